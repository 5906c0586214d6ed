/** Russian texts of the console's page of feeds, and of their alarms, by the English ones. */
export const feeds = {
  Feeds: "Автоимпорт",
  "sources fetch schedule every hour": "источники загрузка по расписанию каждый час feeds",
  "feed {feed}": "автоимпорт {feed}",
  "Sources that are fetched and imported by themselves, with the same checks as by hand. What each run did is on the page {page}.":
    "Источники, которые загружаются и импортируются сами, с теми же проверками, что и вручную. Что сделал каждый запуск — на странице «{page}».",
  "{source}: forgotten": "{source}: удалён из автоимпорта",
  "{source} runs at once": "{source}: запуск сейчас",
  "{source} is paused": "{source}: приостановлен",
  "{source} runs again": "{source}: снова работает",
  running: "идёт",
  "nothing new": "нового нет",
  "no run yet": "запусков не было",
  "No feeds yet.": "Автоимпорта пока нет.",
  Source: "Источник",
  "Takes out of service what is not in its files.": "Выводит из работы то, чего нет в его файлах.",
  "{every}, next run: {next}. Last run: {last}. Something new: {news}.":
    "{every}, следующий запуск: {next}. Последний запуск: {last}. Новое было: {news}.",
  paused: "приостановлен",
  "Run now …": "Запустить …",
  Pause: "Приостановить",
  Resume: "Возобновить",
  "Forget …": "Удалить …",
  "{n} {n|time|times} in a row without success": "без успеха подряд: {n} {n|раз|раза|раз}",
  "nothing new for too long": "слишком долго нет нового",
  "Run {source} now?": "Запустить {source} сейчас?",
  "Forget {source}?": "Удалить {source}?",
  Run: "Запустить",
  Forget: "Удалить",
  "What it has imported stays. It is fetched no more.":
    "То, что уже импортировано, останется. Загружаться больше не будет.",
  "Checks that this run ignores": "Проверки, которые этот запуск пропустит",
  "Only if the file is right though it was refused: the names behind --force, as the refusal gives them.":
    "Только если файл верен, хотя и был отклонён: имена после --force из текста отказа.",
  "Add a feed …": "Добавить источник …",
  "A new feed": "Новый источник автоимпорта",
  "How often: every": "Как часто: каждые",
  Unit: "Единица",
  minutes: "минуты",
  hours: "часы",
  days: "дни",
  "Addresses or files": "Адреса или файлы",
  "Empty: those of the source. One for each of its files, with spaces between them.":
    "Пусто — адреса из описания источника. По одному на каждый его файл, через пробел.",
  "One for each file of the source, with spaces between them.":
    "По одному на каждый файл источника, через пробел.",
  Add: "Добавить",
  "every {n} d": "каждые {n} д",
  "every {n} h": "каждые {n} ч",
  "every {n} min": "каждые {n} мин",
  fetching: "загрузка",
  feed: "автоимпорт",
  // Alarms, as the server names them.
  "A feed has failed three times": "Автоимпорт не удался три раза",
  "Its files could not be fetched or imported three times in a row or more. What it had imported stays. Its page says why.":
    "Его файлы не удалось загрузить или импортировать три раза подряд или больше. То, что уже импортировано, остаётся. Причина — на его странице.",
  "The file of a feed was refused": "Файл автоимпорта отклонён",
  "It is not what it should be: it has shrunk, lies in another country, says that nobody has fuel, or is no such file. Nothing was changed. If it is right, run the feed with the guard that its page names.":
    "Он не такой, каким должен быть: стал намного меньше, лежит в другой стране, утверждает, что топлива нет нигде, или это вообще не тот файл. Ничего не изменено. Если файл верен, запустите импорт с пропуском проверки, которую называет его страница.",
  "A feed has brought nothing new for too long": "Автоимпорт слишком долго не приносит нового",
  "Its files are unchanged, or cannot be fetched, or no `imports` process runs. Statuses of a silent feed end after 24 hours; its stations stay.":
    "Его файлы не меняются, или их не удаётся загрузить, или процесс `imports` не запущен. Статусы такого источника исчезают через 24 часа, станции остаются.",
};
