import "#web/kit/tokens.css";
import "#web/kit/panels.css";
import "#web/console/console.css";
import { render } from "preact";
import { App } from "#web/console/app.tsx";
import { say } from "#web/console/words.ts";
import { startTheme } from "#web/kit/theme.ts";

document.title = say("Fuelmark console");
startTheme("auto", false);
render(<App />, document.getElementById("app")!);
