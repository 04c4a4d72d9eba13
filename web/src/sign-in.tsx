// A token for a cookie, where the server asks for one.

import { type FormEvent, useState } from "react";
import { ask } from "./api.ts";

export function SignIn({ again }: { readonly again: () => void }) {
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState<string>();
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    try {
      await ask("/api/session", { body: { token: token.trim() } });
      again();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <form className="sheet narrow" onSubmit={(event) => void submit(event)}>
      <h1>Sign in</h1>
      <p className="lead">
        This server asks for a token. Make one with <code>packloop token create</code>.
      </p>
      <label className="field">
        Token
        <input
          type="password"
          autoComplete="current-password"
          value={token}
          onChange={(event) => setToken(event.target.value)}
          aria-invalid={problem !== undefined}
          required
        />
      </label>
      {problem !== undefined && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      <button type="submit" className="button primary">
        Sign in
      </button>
    </form>
  );
}
