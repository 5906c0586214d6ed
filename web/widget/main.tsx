import { render } from "preact";
import "#web/kit/tokens.css";
import "#web/widget/widget.css";
import { startTheme } from "#web/kit/theme.ts";
import { startAccent } from "#web/widget/accent-paint.ts";
import { closeOnBack } from "#web/widget/back.ts";
import { keepSendingMarks } from "#web/widget/mark.ts";
import { keepWhatComes } from "#web/widget/offline/kept.ts";
import { keepPageForLater } from "#web/widget/offline/register.ts";
import { noteArrival, sendWhenLeft } from "#web/widget/sending.ts";
import { joinEarlyList } from "#web/widget/early.ts";
import { start } from "#web/widget/start.ts";
import { App } from "#web/widget/parts/app.tsx";
import { keepFilters } from "#web/widget/kept-view.ts";
import { page } from "#web/widget/page.ts";
import { tellOfCards, tellOfHeight } from "#web/widget/telling.ts";
import { language, words } from "#web/widget/words.ts";

document.documentElement.lang = language;
// A station's own page has the station's.
if (page.station === "") document.title = words.title;
startTheme(page.theme, page.themeLocked);
startAccent(page.accent);
const root = document.getElementById("app")!;
root.textContent = "";
render(<App />, root);
if (!page.framed) closeOnBack();
sendWhenLeft();
tellOfCards();
tellOfHeight();
keepFilters();
keepWhatComes();
keepSendingMarks(noteArrival);
const started = start();
joinEarlyList();
// Keeping files for later must not hold up the page.
void started.then(keepPageForLater);
