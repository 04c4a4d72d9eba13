// Every screen, in both themes and at three widths: it is there, an independent checker finds nothing wrong
// with it, and nothing has to be scrolled sideways.

import { afterAll, describe, expect, test } from "vitest";
import { type Served, served } from "../server/served.ts";
import { completed, waiting } from "../server/started-run.ts";
import { closeBrowser, hasBrowser, openPage, violations } from "./browser.ts";
import { builtPage } from "./built-page.ts";

afterAll(closeBrowser);

interface Screen {
  readonly path: string;
  /** What is there once the screen is. */
  readonly shows: string;
  /** Clicked first. */
  readonly opens?: string;
}

async function screensOf(server: Served): Promise<Readonly<Record<string, Screen>>> {
  const done = await completed(server);
  const open = await waiting(server);
  const { body } = await server.get(`/api/runs/${done}`);
  const { digest } = body["pack"] as { digest: string };
  return {
    runs: { path: "/", shows: done },
    "no run": { path: "/?text=nothing-like-this", shows: "No run fits" },
    run: { path: `/r/${done}`, shows: "The model said" },
    prompt: { path: `/r/${done}?tab=prompt&turn=2`, shows: "Tools offered" },
    messages: { path: `/r/${done}?tab=messages&turn=2`, shows: "Model call, step" },
    tools: { path: `/r/${open}?tab=tools&turn=3`, shows: "Arguments" },
    artifacts: { path: `/r/${done}?tab=artifacts&diff=note`, shows: "since turn" },
    raw: { path: `/r/${done}?tab=raw`, shows: "Request" },
    facts: { path: `/r/${done}?tab=facts`, shows: "Facts of turn" },
    way: { path: `/r/${done}?graph=way`, shows: "The model said" },
    "table of states": { path: `/r/${done}?graph=table`, shows: "Leads to" },
    waiting: { path: `/r/${open}`, shows: "Waits for an event" },
    fork: { path: `/r/${done}?turn=2`, shows: "Add an edit", opens: "Fork from here" },
    "compare with": { path: `/r/${done}`, shows: "Compare", opens: "Compare" },
    inbox: { path: "/inbox", shows: "Waits for an event" },
    compare: { path: `/compare/${done}/${open}`, shows: "They part in" },
    pack: { path: `/p/${encodeURIComponent(digest)}`, shows: "Every run ends." },
    prompts: { path: `/p/${encodeURIComponent(digest)}?tab=prompts`, shows: "Close {{artifacts.note}}." },
    settings: { path: "/settings", shows: "somebody on this machine" },
  };
}

describe.skipIf(!hasBrowser)("in a browser: screens", () => {
  for (const theme of ["light", "dark"] as const)
    for (const width of [360, 1280, 1920])
      test(`are whole, readable and accessible: ${theme}, ${width} pixels`, async () => {
        const server = await served({ webFolder: await builtPage() });
        const problems: string[] = [];
        const { page, complaints } = await openPage(server.url, { theme, width });
        for (const [name, { path, shows, opens }] of Object.entries(await screensOf(server))) {
          const narrow = width < 1100 && path.startsWith("/r/") ? panelOf(name) : "";
          await page.goto(
            `${server.url}${path}${narrow === "" ? "" : `${path.includes("?") ? "&" : "?"}panel=${narrow}`}`,
          );
          if (opens !== undefined) await page.getByRole("button", { name: opens, exact: true }).click();
          await page.getByText(shows).first().waitFor();
          for (const found of await violations(page)) problems.push(`${name}: ${found}`);
          const extra = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
          if ((extra as number) > 0) problems.push(`${name}: ${String(extra)} pixels too wide`);
          if (complaints.length > 0) problems.push(`${name}: ${complaints.join("; ")}`);
        }
        expect(problems).toEqual([]);
      }, 180_000);
});

const panelOf = (name: string): string => (name === "table of states" ? "graph" : "inspector");
