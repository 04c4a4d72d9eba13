// Who this browser is to the server. A server on this machine asks for nothing.

import { useMemo } from "react";
import type { Scope } from "../../src/server/scope.ts";
import { ask, usePageKey } from "./api.ts";
import { embeddedRun } from "./export/embedded-run.ts";
import { useAsked } from "./part/use-asked.ts";

export interface Session {
  readonly name: string | null;
  readonly scopes: readonly Scope[];
  readonly signed_in: boolean;
  readonly key: string | null;
}

export type SessionState =
  | { readonly kind: "asking" }
  | { readonly kind: "failed"; readonly error: Error; readonly again: () => void }
  | { readonly kind: "needed"; readonly again: () => void }
  | { readonly kind: "known"; readonly session: Session };

const here: Session = { name: null, scopes: [], signed_in: true, key: null };

export function useSession(): SessionState {
  const isExport = embeddedRun() !== undefined;
  const { value, error, again } = useAsked<Session>(isExport ? undefined : "session", async () => {
    const session = await ask<Session>("/api/session");
    usePageKey(session.key);
    return session;
  });
  return useMemo((): SessionState => {
    if (isExport) return { kind: "known", session: here };
    if (error !== undefined) return { kind: "failed", error, again };
    if (value === undefined) return { kind: "asking" };
    return value.signed_in ? { kind: "known", session: value } : { kind: "needed", again };
  }, [isExport, value, error, again]);
}
