// How the drawing looks. Plain classes and no variables, so that renderers without a browser's CSS show the
// light theme; the dark one follows the viewer's setting. Every text has a contrast of at least 4.5 to 1.

interface Palette {
  readonly ground: string;
  readonly box: string;
  readonly line: string;
  readonly text: string;
  readonly quiet: string;
  readonly entry: string;
  readonly end: string;
  readonly endBox: string;
  readonly outside: string;
  readonly outsideBox: string;
  readonly guard: string;
  readonly guardBox: string;
}

const light: Palette = {
  ground: "#ffffff",
  box: "#f8fafc",
  line: "#64748b",
  text: "#0f172a",
  quiet: "#475569",
  entry: "#2563eb",
  end: "#047857",
  endBox: "#f0fdf4",
  outside: "#7c3aed",
  outsideBox: "#faf5ff",
  guard: "#b45309",
  guardBox: "#fef3c7",
};

const dark: Palette = {
  ground: "#0f172a",
  box: "#1e293b",
  line: "#94a3b8",
  text: "#f1f5f9",
  quiet: "#cbd5e1",
  entry: "#60a5fa",
  end: "#34d399",
  endBox: "#12332c",
  outside: "#c4b5fd",
  outsideBox: "#2a2150",
  guard: "#fbbf24",
  guardBox: "#3f2d0c",
};

const FONT = 'system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans",Arial,sans-serif';

export const style = `
text{font-family:${FONT};text-anchor:middle}
.name{font-size:14px;font-weight:600}.caption{font-size:11px}.label{font-size:12px}
.badge-text{font-size:11px;font-weight:600}
.current .box{stroke-width:3}
.unvisited{opacity:.55}
.box{stroke-width:1.5}.inner{fill:none;stroke-width:1}
.edge{fill:none;stroke-width:1.5}.redirect{stroke-dasharray:5 4}.external .box{stroke-dasharray:6 4}
${colors(light)}
@media (prefers-color-scheme:dark){
${colors(dark)}
}
`;

/** Later rules win, so what a state is comes before where runs begin. */
function colors(p: Palette): string {
  return [
    `.ground,.behind{fill:${p.ground}}`,
    `.box{fill:${p.box};stroke:${p.line}}.inner{stroke:${p.line}}`,
    `.name,.label{fill:${p.text}}.caption{fill:${p.quiet}}`,
    `.external .box,.hybrid .box{fill:${p.outsideBox};stroke:${p.outside}}`,
    `.terminal .box{fill:${p.endBox};stroke:${p.end}}.terminal .inner{stroke:${p.end}}`,
    `.entry .box{stroke:${p.entry}}.entry .inner{stroke:${p.entry}}`,
    `.dot{fill:${p.entry}}.pill{fill:${p.ground};stroke:${p.entry}}.agent{fill:${p.entry}}`,
    `.edge{stroke:${p.line}}.head{fill:${p.line}}`,
    `.start{stroke:${p.entry}}.start-head{fill:${p.entry}}`,
    `.redirect{stroke:${p.guard}}.redirect-head,.redirect-label,.badge-text{fill:${p.guard}}`,
    `.badge{fill:${p.guardBox}}`,
  ].join("\n");
}
