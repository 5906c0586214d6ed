import "#web/kit/tokens.css";
import "#web/kit/panels.css";
import "#web/console/console.css";
import { render } from "preact";
import { App } from "#web/console/app.tsx";
import { startTheme } from "#web/kit/theme.ts";

startTheme("auto", false);
render(<App />, document.getElementById("app")!);
