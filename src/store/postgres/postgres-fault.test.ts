import { expect, test } from "vitest";
import { Fault } from "../../engine/ports.ts";
import { faultOf } from "./postgres-fault.ts";

const said = (code: string, message: string) =>
  faultOf(Object.assign(new Error(message), { code }), "`db/x`");

test.for([
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "self-signed certificate; if the root CA is installed locally, try …"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "self-signed certificate in certificate chain"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "unable to verify the first certificate"],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "unable to get local issuer certificate"],
  ["CERT_HAS_EXPIRED", "certificate has expired"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "Hostname/IP does not match certificate's altnames"],
] as const)("a certificate with %s is the world's fault, with a way out", ([code, message]) => {
  const fault = said(code, message);
  expect(fault).toBeInstanceOf(Fault);
  expect(fault).toMatchObject({ code: "store-unavailable", retry: "never" });
  expect(fault.message).toMatch(/^the certificate of the database `db\/x` is not trusted: [^;]+ \(add .*\)$/);
  expect(fault.message).toContain("sslrootcert=FILE");
});

test("an error of our own stays what it is", () => {
  const error = new TypeError("x is not a function");
  expect(faultOf(error, "`db/x`")).toBe(error);
});
