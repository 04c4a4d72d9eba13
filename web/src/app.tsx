// The frame of every screen: where one can go, who one is, and the screen that the address names.

import { lazy, Suspense, useEffect, useState } from "react";
import { embeddedRun } from "./export/embedded-run.ts";
import { HelpDialog } from "./help-dialog.tsx";
import { useKeys } from "./part/keys.ts";
import { Link } from "./part/link.tsx";
import { Empty, Failed, Loading } from "./part/notices.tsx";
import { go, type Screen, screenOf, usePlace } from "./route.ts";
import { RunScreen } from "./run/run-screen.tsx";
import { RunsScreen } from "./runs/runs-screen.tsx";
import { type SessionState, useSession } from "./session.ts";
import { SignIn } from "./sign-in.tsx";
import { choose, useChoices } from "./theme.ts";

const InboxScreen = lazy(async () => ({ default: (await import("./inbox/inbox-screen.tsx")).InboxScreen }));
const CompareScreen = lazy(async () => ({
  default: (await import("./compare/compare-screen.tsx")).CompareScreen,
}));
const PackScreen = lazy(async () => ({ default: (await import("./pack/pack-screen.tsx")).PackScreen }));
const SettingsScreen = lazy(async () => ({
  default: (await import("./settings/settings-screen.tsx")).SettingsScreen,
}));

export function App() {
  const session = useSession();
  const [isHelping, setHelping] = useState(false);
  const isExport = embeddedRun() !== undefined;
  useKeys({
    "g r": () => go("/"),
    "g i": () => go("/inbox"),
    "?": () => setHelping(true),
  });
  return (
    <>
      <a className="skip" href="#content">
        To the content
      </a>
      <header className="bar">
        <Link to="/" className="brand">
          packloop
        </Link>
        {!isExport && <Navigation />}
        <span className="grow" />
        {isExport && <span className="faint">exported, read only</span>}
        <button type="button" className="button quiet wide-only" onClick={() => setHelping(true)}>
          Keys
        </button>
        <ThemeButton />
      </header>
      <main id="content" tabIndex={-1}>
        <Content session={session} />
      </main>
      {isHelping && <HelpDialog close={() => setHelping(false)} />}
    </>
  );
}

function Content({ session }: { readonly session: SessionState }) {
  const place = usePlace();
  const embedded = embeddedRun();
  const asked = screenOf(place);
  // A file shows the runs that it holds, and its own whatever else is asked of it.
  const screen: Screen =
    embedded === undefined || asked.name === "run" ? asked : { name: "run", run: embedded.run };
  const title = titleOf(screen);
  useEffect(() => {
    document.title = `${title} · packloop`;
  }, [title]);
  if (session.kind === "failed") return <Failed isScreen error={session.error} again={session.again} />;
  if (session.kind === "needed") return <SignIn again={session.again} />;
  return (
    <Suspense fallback={<Loading />}>
      <ScreenOf screen={screen} />
    </Suspense>
  );
}

function ScreenOf({ screen }: { readonly screen: Screen }) {
  switch (screen.name) {
    case "runs":
      return <RunsScreen />;
    case "run":
      return <RunScreen key={screen.run} run={screen.run} />;
    case "inbox":
      return <InboxScreen />;
    case "compare":
      return <CompareScreen key={`${screen.a} ${screen.b}`} a={screen.a} b={screen.b} />;
    case "pack":
      return <PackScreen key={screen.digest} digest={screen.digest} />;
    case "settings":
      return <SettingsScreen />;
    case "nowhere":
      return (
        <Empty isScreen title="There is nothing at this address">
          <Link to="/">See all runs</Link>
        </Empty>
      );
  }
}

function titleOf(screen: Screen): string {
  switch (screen.name) {
    case "runs":
      return "Runs";
    case "run":
      return screen.run;
    case "compare":
      return `${screen.a} and ${screen.b}`;
    case "pack":
      return "Pack";
    case "nowhere":
      return "Nothing here";
    default:
      return screen.name === "inbox" ? "Inbox" : "Settings";
  }
}

function Navigation() {
  const { name } = screenOf(usePlace());
  return (
    <nav aria-label="Screens" className="navigation">
      <Link to="/" current={name === "runs"}>
        Runs
      </Link>
      <Link to="/inbox" current={name === "inbox"}>
        Inbox
      </Link>
      <Link to="/settings" current={name === "settings"}>
        Settings
      </Link>
    </nav>
  );
}

const NEXT = { system: "light", light: "dark", dark: "system" } as const;
const NAMES = { system: "Auto", light: "Light", dark: "Dark" } as const;

function ThemeButton() {
  const { theme } = useChoices();
  return (
    <button
      type="button"
      className="button quiet"
      aria-label={`Theme: ${NAMES[theme]}`}
      onClick={() => choose({ theme: NEXT[theme] })}
    >
      {NAMES[theme]}
    </button>
  );
}
