/** Russian texts of the console's review and rollback, by the English ones. */
export const review = {
  // Review.
  "These marks are held because their source, or their city, had more harmful changes than its limit. An approved mark counts from the time when it was made; a rejected mark never counts.":
    "Эти отметки задержаны, потому что их источник или город превысил лимит ухудшений статуса. Одобренная отметка учитывается с того времени, когда она сделана; отклонённая не учитывается никогда.",
  "No marks are held.": "На проверке отметок нет.",
  "{all} held": "На проверке: {all}",
  "{all} held, the oldest {shown} are shown": "На проверке: {all}, показаны самые старые: {shown}",
  "Select none": "Снять выбор",
  "Select all {n}": "Выбрать все ({n})",
  "Approve {n} selected": "Одобрить выбранные ({n})",
  "Reject {n} selected": "Отклонить выбранные ({n})",
  "Show {n} more": "Показать ещё {n}",
  "Approve {n} {n|mark|marks}?": "Одобрить {n} {n|отметку|отметки|отметок}?",
  "Reject {n} {n|mark|marks}?": "Отклонить {n} {n|отметку|отметки|отметок}?",
  "{marks} {marks|mark|marks} of {reporters} {reporters|reporter|reporters} at {stations} {stations|station|stations}.":
    "{marks} {marks|отметка|отметки|отметок} от {reporters} {reporters|автора|авторов|авторов} на {stations} {stations|станции|станциях|станциях}.",
  "Each of these decisions can be taken back on the server: {command}.":
    "Каждое из этих решений можно отменить на сервере: {command}.",
  "this station": "эта станция",
  "The mark at {station} was approved.": "Отметка одобрена: {station}.",
  "The mark at {station} was rejected.": "Отметка отклонена: {station}.",
  "The mark was approved": "Отметка одобрена",
  "The mark was rejected": "Отметка отклонена",
  "{n} {n|mark|marks} {n|was|were} approved":
    "{n|Одобрена|Одобрены|Одобрено} {n} {n|отметка|отметки|отметок}",
  "{n} {n|mark|marks} {n|was|were} rejected":
    "{n|Отклонена|Отклонены|Отклонено} {n} {n|отметка|отметки|отметок}",
  "{n} {n|mark|marks} {n|was|were} decided by somebody else before":
    "{n} {n|отметка уже рассмотрена|отметки уже рассмотрены|отметок уже рассмотрены} другим оператором",
  // Groups of held marks.
  "By source, city and hour": "По источнику, городу и часу",
  "One by one": "По одной",
  "Keys: {j} next, {k} previous, {a} approve, {r} reject.":
    "Клавиши: {j} — следующая группа, {k} — предыдущая, {a} — одобрить, {r} — отклонить.",
  "The group was approved": "Группа одобрена",
  "The group was rejected": "Группа отклонена",
  "{n} {n|mark|marks} {n|was|were} approved.":
    "{n|Одобрена|Одобрены|Одобрено} {n} {n|отметка|отметки|отметок}.",
  "{n} {n|mark|marks} {n|was|were} rejected.":
    "{n|Отклонена|Отклонены|Отклонено} {n} {n|отметка|отметки|отметок}.",
  "Marks of network {network} are held for {n} {n|day|days}.":
    "В течение {n} {n|дня|дней|дней} отметки из сети {network} будут попадать на проверку.",
  "Key #{id} may change one station in an hour, for {n} {n|day|days}.":
    "В течение {n} {n|дня|дней|дней} ключ № {id} может менять не больше одной станции в час.",
  "{group}: {said} at {stations} {stations|station|stations}. The decision can be taken back.":
    "{group}: {said} на {stations} {stations|станции|станциях|станциях}. Решение можно отменить.",
  "{hour} and the hour after it: {marks} {marks|mark|marks} of {reporters} {reporters|reporter|reporters} at {stations} {stations|station|stations}: {said}.":
    "{hour} и час после: {marks} {marks|отметка|отметки|отметок} от {reporters} {reporters|автора|авторов|авторов} на {stations} {stations|станции|станциях|станциях}: {said}.",
  "Nobody else has marked these stations within three hours.":
    "За три часа до и после этого никто другой эти станции не отмечал.",
  "Others at these stations within three hours: {agree} agree, {disagree} do not.":
    "Другие отметки на этих станциях, три часа до и после: совпадают {agree}, противоречат {disagree}.",
  "New reporters: {newcomers} of {reporters}.": "Новых авторов: {newcomers} из {reporters}.",
  "Exactly at the station’s point: {exact} of {marks}.":
    "Точно в точке станции: {exact} из {marks}.",
  "All came within {s} s, {n} per second.": "Все пришли за {s} с, по {n} в секунду.",
  "All came within {n} min.": "Все пришли за {n} мин.",
  "Of marks like these, of their source and their reporters, {n} % are {lies}.":
    "Среди таких отметок, от этого источника и этих авторов, {n} % {lies}.",
  "taken for lies": "похожи на ложь",
  "Who lies how often": "Кто как часто лжёт",
  // Chances.
  Chances: "Вероятности",
  "lies sources reporters": "ложь источники авторы",
  "Each mark is judged by the next two marks of others at its station. So the chance of fuel learns how often whom is to be believed. A high share is a reason to look, no proof; nothing is blocked by itself.":
    "Каждую отметку проверяют две следующие отметки других водителей на той же станции. Так вероятность топлива узнаёт, кому и насколько верить. Высокая доля — повод присмотреться, а не доказательство; само собой ничего не блокируется.",
  "No mark has been judged yet.": "Ещё ни одна отметка не проверена.",
  "From judged marks": "По проверенным отметкам",
  "Lies by source": "Ложь по источникам",
  "Lies by kind of mark": "Ложь по видам отметок",
  "Lies by reporter": "Ложь по авторам",
  "A feed that is gone": "Удалённый источник",
  "Lies of known drivers": "Ложь знакомых водителей",
  "Lies of newcomers": "Ложь новичков",
  "says fuel": "«есть топливо»",
  "says none": "«нет топлива»",
  Who: "Кто",
  newcomers: "новички",
  "known drivers": "знакомые водители",
  Where: "Где",
  "from afar": "издалека",
  Lies: "Ложь",
  "{n} of {all} marks of others speak against it.":
    "Против этого {n} из {all} отметок других водителей.",
  "What would change": "Что изменится",
  "Approve the group": "Одобрить группу",
  "Reject the group": "Отклонить группу",
  "Limit the key": "Ограничить ключ",
  "Block the network": "Заблокировать сеть",
  "Withdraw what counted …": "Отозвать уже учтённые …",
  "{partner}, key {key}": "{partner}, ключ {key}",
  "Network {network}": "Сеть {network}",
  "outside of cities": "вне городов",
  // One held mark.
  select: "выбрать",
  "the mark at {station}": "отметку: {station}",
  "of the mark at {station}": "отметки: {station}",
  marked: "отмечено",
  "(received {time})": "(получено {time})",
  "shown now:": "сейчас показано:",
  "Source:": "Источник:",
  "Reporter:": "Автор:",
  "the map itself": "сама карта",
  "a driver on the map": "водитель на карте",
  "{n} “no” {n|mark|marks} by {reporters} {reporters|newcomer|newcomers} in the hour before.":
    "за предыдущий час {n} {n|отметка|отметки|отметок} «нет» от {reporters} {reporters|новичка|новичков|новичков}.",
  "Withdraw its marks …": "Отозвать его отметки …",
  "Block the reporter": "Заблокировать автора",
  "Marks of reporter #{id} are held for {n} {n|day|days}":
    "В течение {n} {n|дня|дней|дней} отметки автора № {id} будут попадать на проверку",
  "Marks of network {network} are held for {n} {n|day|days}":
    "В течение {n} {n|дня|дней|дней} отметки из сети {network} будут попадать на проверку",
  "#{id}, first seen {when}; in 7 days {marks} at {stations}, {held} held, {rejected} rejected.":
    "№ {id}, появился {when}; за 7 дней: {marks}, {stations}, на проверке {held}, отклонено {rejected}.",
  "with this mark": "с этой отметкой",
  "{n} {n|mark|marks}": "{n} {n|отметка|отметки|отметок}",
  "{n} {status}": "{n} {n|раз|раза|раз} {status}",
  // Rollback.
  "Withdraws marks as if they had never been made. Their stations are calculated again, and the changes come in the partners’ next delta. All times are times of receipt.":
    "Отзывает отметки, как будто их никогда не было. Их станции рассчитываются заново, партнёры получают изменения при следующем вызове delta. Везде указано время получения.",
  any: "все",
  City: "Город",
  "Network of the map": "Сеть посетителей карты",
  "By its first digits, as alarms and groups name it": "По первым знакам, как в тревогах и группах",
  "not at the station": "не на станции",
  "at the station": "на станции",
  "Reporter first seen since (your time)": "Автор появился с (ваше время)",
  "Reporter first seen until (your time)": "Автор появился до (ваше время)",
  "Since (your time)": "Получено с (ваше время)",
  "Until (your time)": "Получено до (ваше время)",
  "Calculating …": "Рассчитываем …",
  "Show what would change": "Показать, что изменится",
  "No matching marks: there is nothing to withdraw.": "Подходящих отметок нет: отзывать нечего.",
  "{marks} {marks|mark|marks} ({held} of them held) of {reporters} {reporters|reporter|reporters} at {stations} {stations|station|stations}.":
    "{marks} {marks|отметка|отметки|отметок} (из них на проверке {held}) от {reporters} {reporters|автора|авторов|авторов} на {stations} {stations|станции|станциях|станциях}.",
  "{n} of the marks are of reporters who were known for a week.":
    "Отметок от авторов, известных не меньше недели: {n}.",
  "Worked out for {n} {n|station|stations}, {shown} shown.":
    "Рассчитано для {n} {n|станции|станций|станций}, показано: {shown}.",
  "Withdraw {n} {n|mark|marks} …": "Отозвать {n} {n|отметку|отметки|отметок} …",
  "Withdraw {n} {n|mark|marks}?": "Отозвать {n} {n|отметку|отметки|отметок}?",
  Withdraw: "Отозвать",
  "{n} {n|station|stations} {n|is|are} calculated again.":
    "Заново {n|рассчитывается|рассчитываются|рассчитываются} {n} {n|станция|станции|станций}.",
  "The rollback can be taken back.": "Откат можно отменить.",
  "{done} of {stations} {stations|station|stations}":
    "{done} из {stations} {stations|станции|станций|станций}",
  "The marks were withdrawn": "Отметки отозваны",
  // Choices by name.
  "Choose one of the list, or clear this.": "Выберите из списка или очистите поле.",
  "The list cannot be read at the moment.": "Список сейчас недоступен.",
  "Nothing fits.": "Ничего не подходит.",
  "alarm {time}": "тревога {time}",
  "blocked until {time}": "заблокирована до {time}",
  Reporter: "Автор",
  "choose a reporter": "выбрать автора",
  Any: "Сбросить",
  reporter: "автора",
  "Choose a reporter": "Выбор автора",
  "By a mark": "По отметке",
  "Station that it marked": "Станция, которую он отмечал",
  "Nobody has marked this station.": "Эту станцию никто не отмечал.",
  "The newest marks": "Новейшие отметки",
  "Older marks": "Более старые отметки",
  "By name": "По имени",
  "Choose #{id}": "Выбрать № {id}",
  // The conditions of a decision.
  "station {id}": "станция {id}",
  "“{status}”": "статус «{status}»",
  "since {time}": "с {time}",
  "until {time}": "до {time}",
  "first seen since {time}": "автор появился с {time}",
  "first seen until {time}": "автор появился до {time}",
  // The changes of a decision.
  "Changes of stations": "Изменения станций",
  "No station is touched.": "Ни одна станция не затронута.",
  Confirmations: "Подтверждения",
  Pending: "Ожидает",
  fuels: "есть марки",
  "no fuels": "нет марок",
  "no cash": "без наличных",
  "cards only": "только топливные карты",
  true: "да",
  yes: "есть",
  low: "мало",
  no: "нет",
  // The record of a rollback.
  "Rollback #{id}": "Откат № {id}",
  "{marks} {marks|mark|marks} at {stations} {stations|station|stations} {marks|was|were} withdrawn.":
    "{marks|Отозвана|Отозваны|Отозвано} {marks} {marks|отметка|отметки|отметок} на {stations} {stations|станции|станциях|станциях}.",
  "{marks} {marks|mark|marks} at {stations} {stations|station|stations} {marks|was|were} withdrawn, and put back later.":
    "{marks|Отозвана, а затем возвращена|Отозваны, а затем возвращены|Отозвано, а затем возвращено} {marks} {marks|отметка|отметки|отметок} на {stations} {stations|станции|станциях|станциях}.",
  "{n} {n|station|stations} {n|waits|wait} to be calculated again.":
    "{n|Ждёт|Ждут|Ждут} пересчёта: {n} {n|станция|станции|станций}.",
  "By {actor}, {time}: {conditions}.": "Кто и когда: {actor}, {time}. Условия: {conditions}.",
  "Taken back by {actor}, {time}.": "Отменён: {actor}, {time}.",
  "{n} {n|mark is|marks are} again what {n|it was|they were} before, and {n|its station is|their stations are} calculated again: the table shows them from right to left. Marks since then keep their effect.":
    "{n} {n|отметка станет такой, какой была|отметки станут такими, какими были|отметок станут такими, какими были}, и станции будут рассчитаны заново: таблица читается справа налево. Более поздние отметки продолжают действовать.",
  "If it is taken back:": "Если его отменить:",
  "{n} {n|mark stays|marks stay} withdrawn, because other rollbacks cover {n|it|them} too: {ids}.":
    "{n} {n|отметка останется отозванной|отметки останутся отозванными|отметок останутся отозванными}: {n|её|их|их} охватывают и другие откаты: {ids}.",
  "Another rollback": "Другой откат",
  "Taking it back was not finished: take it back again, and the rest is done.":
    "Отмена не завершена: отмените откат ещё раз, и оставшееся будет сделано.",
  "{done} of {stations} {stations|station is|stations are} done. If it was broken off, give the same conditions again: the rest is done.":
    "Готово {done} из {stations} {stations|станции|станций|станций}. Если откат прервался, задайте те же условия ещё раз: оставшееся будет сделано.",
  "What has changed": "Что изменилось",
  "Worked out for {n} of {stations} {stations|station|stations}, {shown} shown.":
    "Рассчитано для {n} из {stations} {stations|станции|станций|станций}, показано: {shown}.",
  "Earlier rollbacks": "Прежние откаты",
  "Nothing was ever withdrawn.": "Откатов ещё не было.",
  Which: "Условия",
  "Taken back": "Отменён",
  // Reasons for a station's status.
  "the key has its own threshold": "у ключа собственный порог",
  "sent without a position at the station": "без местоположения на станции",
  "“no” with other live marks nearby": "«нет», а рядом есть другие действующие отметки",
  "a new reporter against reporters known for longer":
    "новый автор против тех, кто известен дольше",
  "made at the station": "отметка сделана на станции",
  "An import set “{status}”.": "Импорт установил статус «{status}».",
  "An import of “{status}” was ignored: drivers’ marks or a newer import take precedence.":
    "Импорт статуса «{status}» не учтён: отметки водителей и более новый импорт важнее.",
  "Reporter #{id} said “{status}” ({rule})": "Автор № {id} отметил «{status}» ({rule})",
  "Reporter #{id} said “{status}” again ({rule})": "Автор № {id} снова отметил «{status}» ({rule})",
  "Reporter #{id} said “{status}” instead of “{other}” ({rule})":
    "Автор № {id} отметил «{status}» вместо «{other}» ({rule})",
  "{devices} ({n} {n|reporter|reporters})": "{devices} ({n} {n|автор|автора|авторов})",
  "{had} of {needed} needed, so it was published.":
    "за этот статус {had}, нужно {needed}, поэтому он опубликован.",
  "now supported by {had}, so the status was renewed.":
    "теперь за этот статус {had}, и его срок продлён.",
  "now supported by {had}. This did not renew the status: it needs {devices}, or a newer mark exists.":
    "теперь за этот статус {had}. Его срок не продлён: для этого нужно {devices} или уже есть более новая отметка.",
  "{had} of {needed} needed, so it waits.":
    "за этот статус {had}, нужно {needed}, поэтому он ждёт подтверждения.",
  "{had} of {needed} needed, but recent devices with at least the same weight disagree: a dispute.":
    "за этот статус {had}, нужно {needed}, но устройства с недавними отметками и не меньшим весом против: возник спор.",
  "The price {grade}={price} is far from those around and waits: {have} of {needed} devices state one like it.":
    "Цена {grade}={price} далека от цен вокруг и ждёт подтверждения: близкую цену назвало устройств {have}, нужно {needed}.",
  "The price {grade}={price} waits: {have} of {needed} devices state it.":
    "Цена {grade}={price} ждёт подтверждения: её назвало устройств {have}, нужно {needed}.",
  "a newer published status says otherwise.": "статус, опубликованный позже, говорит другое.",
  "24 hours without a fresh mark: “{status}” expired.":
    "За 24 часа нет новых отметок: срок статуса «{status}» истёк.",
  "The imported “{status}” expired.": "Срок импортированного статуса «{status}» истёк.",
  "“{status}” waited 24 hours without another mark and was dropped.":
    "Статус «{status}» за 24 часа не получил второй отметки и снят.",
  "The marks of the other side of the dispute became too old: “{status}” was published.":
    "Отметки другой стороны спора устарели: опубликован статус «{status}».",
  "The dispute about “{status}” ended: too few recent devices support it.":
    "Спор о статусе «{status}» закончился: его поддерживает слишком мало недавних устройств.",
  // The outcome of a mark.
  confirmed: "подтверждено",
  superseded: "опоздало",
  expired: "истёк срок",
  queued: "в очереди",
  held: "на проверке",
  withdrawn: "отозвано",
};
