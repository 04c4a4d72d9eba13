// Turns what PostgreSQL and the network say into faults with our codes. Codes are matched, never texts,
// except for the one error of the driver that has none.

import { Defect } from "../../base/assert.ts";
import { Fault } from "../../engine/ports.ts";

export const codeOf = (error: unknown): string => {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "";
};

/** Of a socket, or of a name that cannot be looked up. */
const NETWORK = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "ECONNABORTED", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH"],
  ...["ENOTFOUND", "EAI_AGAIN", "ENOENT"],
]);

/** The server is going, coming, full, or no longer the one that may be written to. */
const AWAY = new Set(["57P01", "57P02", "57P03", "57P05", "53300", "25006"]);

/** Nothing of the statement was kept, and the same one may succeed. */
const AGAIN = new Set(["40P01", "40001", "55P03", "57014"]);

/** The connection is gone: what was sent over it may or may not have been done. */
export const isLost = (error: unknown): boolean => {
  const code = codeOf(error);
  if (code.startsWith("08") || AWAY.has(code) || NETWORK.has(code)) return true;
  return error instanceof Error && code === "" && /connection|timeout/i.test(error.message);
};

export const isToBeRepeated = (error: unknown): boolean => AGAIN.has(codeOf(error));

/** What Node calls certificates that it does not accept. */
const isDistrusted = (code: string): boolean =>
  /CERT|UNABLE_TO_VERIFY|^(HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED)$/.test(code);

/** The fault for an error; a defect of ours stays what it is. */
export function faultOf(error: unknown, place: string): Error {
  if (error instanceof Fault || error instanceof Defect) return error;
  const code = codeOf(error);
  const said = (error instanceof Error && error.message !== "" ? error.message : code) || "no reason given";
  const unavailable = (message: string, retry: Fault["retry"] = "never") =>
    new Fault("store-unavailable", message, { retry, cause: error });
  switch (code) {
    case "28P01":
      return unavailable(`the database ${place} refuses the user or password (${said})`);
    case "28000":
      return unavailable(`the database ${place} refuses this user from here (${said})`);
    case "3D000":
      return unavailable(`there is no such database: ${place} (create it first)`);
    case "42501":
      return unavailable(`missing rights in ${place}: ${said} (docs/postgres.md lists what a role needs)`);
    case "25006":
      return unavailable(`${place} can only be read, as a replica does (name the primary server)`, "later");
    default:
  }
  if (code === "" && said.startsWith("SASL"))
    return unavailable(
      `the database ${place} wants a password, and the address has none that fits (${said})`,
    );
  if (isDistrusted(code))
    return unavailable(
      `the certificate of the database ${place} is not trusted: ${said.split(";", 1)[0]} (add sslrootcert=FILE to the address, or sslmode=no-verify)`,
    );
  if (isLost(error)) return unavailable(`the database ${place} cannot be reached: ${said}`, "later");
  if (isToBeRepeated(error))
    return unavailable(`the database ${place} gave up a statement: ${said}`, "later");
  if (/^[0-9A-Z]{5}$/.test(code)) return unavailable(`the database ${place} refused: ${said} (${code})`);
  return error instanceof Error ? error : new Error(said);
}
