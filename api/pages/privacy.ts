import type { PageRouter } from "#api/http/route.ts";
import { cardCss, html, sendPlainPage } from "#api/pages/html.ts";
import { languageOf, languageVary, type Language } from "#api/pages/messages.ts";
import type { PageDeps } from "#api/pages/deps.ts";
import { basemapHost } from "#src/infrastructure/map-settings.ts";

type Kept = Pick<PageDeps["config"], "positionDays" | "retentionDays" | "alertDays">;

/** `/privacy`: docs/privacy.md in short, for drivers. The map links to it. */
export function privacyPage(router: PageRouter, { config }: Pick<PageDeps, "config">): void {
  router.get("/privacy", (ctx) => {
    const language = languageOf(ctx);
    const { title, intro, items: own, asked } = texts[language](config);
    const host = basemapHost(config);
    const items = host === null ? own : [...own, asked(new URL(host).host)];
    ctx.set({ "Cache-Control": "public, max-age=3600", Vary: languageVary });
    sendPlainPage(ctx, {
      ...{ language, title, css: cardCss },
      policy: "form-action 'none'",
      parts: [
        html`<p>${intro}</p>`,
        html`<dl>
          ${items.map(
            ([what, why]) =>
              html`<dt>${what}</dt>
                <dd>${why}</dd> `,
          )}
        </dl>`,
      ],
    });
  });
}

interface Texts {
  title: string;
  intro: string;
  items: [what: string, why: string][];
  /** Where the base map comes from another host (decisions 15.46). */
  asked: (host: string) => [what: string, why: string];
}

const texts: Record<Language, (kept: Kept) => Texts> = {
  en: ({ positionDays, retentionDays, alertDays }) => ({
    title: "Privacy",
    intro: "The map needs no account and no name. This is what the service keeps:",
    items: [
      [
        "A random number",
        "Your browser makes it with your first mark, so that one person counts once. The service stores only a hash of it, which cannot be turned back.",
      ],
      [
        "Your marks",
        `Station, time, and what you said about fuel. They make the statuses, and are deleted after ${retentionDays} days.`,
      ],
      [
        "Your position and your comment",
        `The position is sent with a mark, if you allow it: it shows that you were at the station. Both are cleared after ${positionDays} days.`,
      ],
      [
        "Your network",
        `A hash of the address of your connection, with a mark, so that nobody can pretend to be many. Your address itself is not stored. The hash leaves your marks after ${positionDays} days, unless somebody else of your network has marked the same station at that time.`,
      ],
      [
        "If you want to be told",
        `The fuel, the place and the distance you asked about, and where your browser takes notifications, encrypted. Deleted after ${alertDays} days, or when you stop it. Notifications go through the service of your browser's maker, which cannot read them.`,
      ],
      [
        "If you say what is wrong with a station",
        `Your words and the place, for the operator. Deleted after ${positionDays} days.`,
      ],
      [
        "In your browser",
        "The random number, your marks of the last 24 hours, your favourites, the fuel you have chosen, the place of your last search, and light or dark. A cookie has the language, the fuel and the city you chose, so that the page begins with them. For when there is no network: the map itself, the stations and the place you have last looked at, and marks that have not been sent yet. No advertising, and nobody follows you.",
      ],
      [
        "To erase it",
        "Open the map's menu (…) and press “Forget this device”. It also clears what the browser keeps, marks that wait included. Your marks that were sent stay, but nothing leads to you any more. If you mark in another app, ask its maker: it can have you erased, too.",
      ],
    ],
    asked: (host) => [
      "The map's ground",
      `Streets and names come from ${host}. That host learns your address and which places you look at; it gets no position, no mark and no cookie.`,
    ],
  }),
  ru: ({ positionDays, retentionDays, alertDays }) => ({
    title: "Конфиденциальность",
    intro: "Карте не нужны ни учётная запись, ни имя. Вот что хранит сервис:",
    items: [
      [
        "Случайное число",
        "Браузер создаёт его при первой отметке, чтобы один человек считался один раз. Сервис хранит только хеш, из которого число не восстановить.",
      ],
      [
        "Ваши отметки",
        `Станция, время и что вы сообщили о топливе. Из них складываются статусы; удаляются через ${retentionDays} дн.`,
      ],
      [
        "Местоположение и комментарий",
        `Местоположение отправляется с отметкой, если вы разрешили: оно показывает, что вы были на станции. То и другое стирается через ${positionDays} дн.`,
      ],
      [
        "Ваша сеть",
        `Хеш адреса вашего подключения, вместе с отметкой, чтобы никто не выдавал себя за многих. Сам адрес не хранится. Хеш стирается из отметок через ${positionDays} дн., если в то же время ту же станцию не отметил кто-то ещё из вашей сети.`,
      ],
      [
        "Если просите сообщить",
        `Топливо, место и расстояние, о которых вы спросили, и адрес уведомлений вашего браузера — в зашифрованном виде. Удаляются через ${alertDays} дн. или когда вы это отмените. Уведомления идут через службу разработчика браузера; прочитать их она не может.`,
      ],
      [
        "Если сообщаете, что не так со станцией",
        `Ваши слова и место — для оператора. Удаляются через ${positionDays} дн.`,
      ],
      [
        "В вашем браузере",
        "Случайное число, ваши отметки за последние 24 часа, избранное, выбранное топливо, место последнего поиска и тема. В cookie записаны язык, топливо и выбранный город, чтобы страница с них начиналась. На случай, если нет сети: сама карта, станции и место, которые вы смотрели последними, и ещё не отправленные отметки. Никакой рекламы и слежки.",
      ],
      [
        "Как стереть",
        "Откройте меню карты (…) и нажмите «Забыть это устройство». Будет стёрто и то, что хранит браузер, вместе с неотправленными отметками. Отправленные отметки останутся, но к вам уже ничего не ведёт. Если вы отмечаете в другом приложении, обратитесь к его автору: он тоже может вас стереть.",
      ],
    ],
    asked: (host) => [
      "Подложка карты",
      `Улицы и названия приходят с ${host}. Этому серверу видны ваш адрес и места, которые вы смотрите; местоположение, отметки и cookie ему не передаются.`,
    ],
  }),
};
