import { render } from "preact";
import "#web/kit/tokens.css";
import "#web/kit/panels.css";
import "#web/dashboard/style.css";
import { App } from "#web/dashboard/app.tsx";
import { start } from "#web/dashboard/state.ts";
import { say } from "#web/dashboard/words.ts";
import { startTheme } from "#web/kit/theme.ts";

document.title = say("Fuelmark dashboard");
startTheme("auto", false);
render(<App />, document.querySelector("#app")!);
start();
