// Where the page begins.

import { createRoot } from "react-dom/client";
import "./style/tokens.css";
import "./style/page.css";
import "./style/parts.css";
import "./style/run.css";
import "./style/screens.css";
import { must } from "../../src/base/assert.ts";
import { App } from "./app.tsx";
import { beginTheme } from "./theme.ts";

beginTheme();
createRoot(must(document.getElementById("page"), "the page has a place to be in")).render(<App />);
