import { render } from "preact";
import "#web/kit/tokens.css";
import "#web/kit/panels.css";
import "#web/embed/embed.css";
import { App } from "#web/embed/app.tsx";
import { watchKey } from "#web/embed/key-state.ts";
import { language, words } from "#web/embed/words.ts";
import { startTheme } from "#web/kit/theme.ts";

document.documentElement.lang = language;
document.title = words.title;
startTheme("auto", false);
watchKey();
render(<App />, document.querySelector("#app")!);
