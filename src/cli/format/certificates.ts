// `--certificate`: the termination certificates of all packs, as one JSON list.

import { assert } from "../../base/assert.ts";
import { certificateOf } from "../../pack/flow/certificate.ts";
import { refutation } from "../../pack/flow/verify-certificate.ts";
import type { FileReport } from "./check-report.ts";

/** Each is checked by the separate verifier before anybody else can rely on it. */
export function certificatesText(files: readonly FileReport[]): string {
  const all = files.flatMap(({ file, packs }) =>
    packs.flatMap((pack) =>
      pack.bounds.map((bound) => {
        const certificate = certificateOf(pack, bound);
        const wrong = refutation(certificate, pack);
        assert(wrong === undefined, `a certificate that is written holds: ${wrong ?? ""}`);
        return { file, ...certificate };
      }),
    ),
  );
  return `${JSON.stringify(all, null, 2)}\n`;
}
