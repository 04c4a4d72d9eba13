// What a person chose for this browser, and what the server says about itself.

import { ask } from "../api.ts";
import { visible } from "../part/format.ts";
import { useAsked } from "../part/use-asked.ts";
import type { Session } from "../session.ts";
import { choose, type Theme, useChoices } from "../theme.ts";

interface Token {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly created_at: string;
}

const THEMES: Readonly<Record<Theme, string>> = { system: "As the system", light: "Light", dark: "Dark" };

export function SettingsScreen() {
  const choices = useChoices();
  return (
    <div className="screen narrow-screen">
      <div className="screen-head">
        <h1>Settings</h1>
      </div>
      <section className="card">
        <h2>This browser</h2>
        <fieldset className="choices">
          <legend>Theme</legend>
          {(Object.keys(THEMES) as Theme[]).map((theme) => (
            <label key={theme} className="check">
              <input
                type="radio"
                name="theme"
                checked={choices.theme === theme}
                onChange={() => choose({ theme })}
              />
              {THEMES[theme]}
            </label>
          ))}
        </fieldset>
        <label className="check">
          <input
            type="checkbox"
            checked={choices.letters}
            onChange={(event) => choose({ letters: event.target.checked })}
          />
          single letters are commands
        </label>
        <label className="field">
          Your name, as the journal keeps it with what you decide
          <input
            value={choices.by}
            maxLength={200}
            onChange={(event) => choose({ by: event.target.value })}
          />
        </label>
      </section>
      <ServerPart />
    </div>
  );
}

function ServerPart() {
  const session = useAsked<Session>("session", () => ask<Session>("/api/session"));
  const health = useAsked<{ readonly version: string }>("health", () => ask("/healthz"));
  const mayList = session.value?.scopes.includes("admin") === true;
  const tokens = useAsked<{ readonly items: readonly Token[] }>(mayList ? "tokens" : undefined, () =>
    ask("/api/tokens"),
  );
  const signOut = async (): Promise<void> => {
    await ask("/api/session", { method: "DELETE" });
    location.reload();
  };
  return (
    <section className="card">
      <h2>Server</h2>
      <dl className="pairs">
        <div>
          <dt>version</dt>
          <dd>{health.value?.version ?? ""}</dd>
        </div>
        <div>
          <dt>you are</dt>
          <dd>
            {session.value?.name ?? "somebody on this machine"}
            {typeof session.value?.key === "string" && (
              <button type="button" className="button quiet" onClick={() => void signOut()}>
                Sign out
              </button>
            )}
          </dd>
        </div>
        <div>
          <dt>may</dt>
          <dd>{session.value?.scopes.join(", ") ?? ""}</dd>
        </div>
        <div>
          <dt>secrets</dt>
          <dd>are taken out of everything before it is stored</dd>
        </div>
      </dl>
      {mayList && (
        <>
          <h3>Tokens</h3>
          {tokens.value?.items.length === 0 && (
            <p className="faint">
              None. Make one with <code>packloop token create</code>.
            </p>
          )}
          <ul className="plain-list">
            {tokens.value?.items.map((token) => (
              <li key={token.name}>
                {visible(token.name)} <span className="faint">{token.scopes.join(", ")}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
