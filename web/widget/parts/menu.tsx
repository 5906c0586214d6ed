import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Icon } from "#web/kit/icon.tsx";
import { switchTheme, theme } from "#web/kit/theme.ts";
import { page } from "#web/widget/page.ts";
import { AboutYou } from "#web/widget/parts/about-you.tsx";
import { openPanel, openSuggest } from "#web/widget/panels.ts";
import { Panel } from "#web/widget/parts/panel.tsx";
import { config } from "#web/widget/state.ts";
import { language, words } from "#web/widget/words.ts";

/** Everything that is not about fuel: how the page looks, and the other pages. */
export const MenuPanel = () => (
  <Panel title={words.menu}>
    <ul class="menu">
      <li>
        <LanguageLink />
      </li>
      {page.themeLocked ? null : (
        <li>
          <button type="button" class="item" onClick={switchTheme}>
            <Icon name={theme.value === "dark" ? "sun" : "moon"} />
            {theme.value === "dark" ? words.toLight : words.toDark}
          </button>
        </li>
      )}
      {document.fullscreenEnabled ? (
        <li>
          <Fullscreen />
        </li>
      ) : null}
      <li>
        <button type="button" class="item" onClick={() => openPanel("along")}>
          <Icon name="route" />
          {words.alongWay}
        </button>
      </li>
      {config.value?.reports_enabled === true ? (
        <li>
          <button type="button" class="item" onClick={() => openSuggest(null)}>
            <Icon name="plus" />
            {words.missing}
          </button>
        </li>
      ) : null}
      {(["overview", "status", "privacy"] as const).map((name) => (
        <li key={name}>
          <a
            class="item"
            href={`${page.root}${name}?lang=${language}`}
            target="_blank"
            rel="noopener"
          >
            <Icon name={icons[name]} />
            {words.pages[name]}
          </a>
        </li>
      ))}
    </ul>
    <AboutYou />
  </Panel>
);

const icons = { overview: "list", status: "check", privacy: "people" } as const;

/** The same view in the other language. */
const LanguageLink = () => {
  const other = language === "ru" ? "en" : "ru";
  const address = new URL(location.href);
  address.searchParams.set("lang", other);
  return (
    <a class="item" href={address.href} lang={other} hreflang={other}>
      <Icon name="language" />
      {other === "ru" ? "Русский" : "English"}
    </a>
  );
};

const Fullscreen = () => {
  const full = useSignal(document.fullscreenElement !== null);
  useEffect(() => {
    const note = (): void => {
      full.value = document.fullscreenElement !== null;
    };
    document.addEventListener("fullscreenchange", note);
    return () => document.removeEventListener("fullscreenchange", note);
  }, []);
  const toggle = (): void => {
    const done = full.value
      ? document.exitFullscreen()
      : document.documentElement.requestFullscreen();
    done.catch((error: unknown) => console.warn(error));
  };
  return (
    <button type="button" class="item" onClick={toggle}>
      <Icon name={full.value ? "shrink" : "expand"} />
      {full.value ? words.leaveFullscreen : words.fullscreen}
    </button>
  );
};
