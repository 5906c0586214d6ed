/**
 * Russian texts of what imports and feeds say of files, by the English ones of the server; `{1}` and so on stand for what
 * varies. A test compares them with the server's code.
 */
export const faults: Readonly<Record<string, string>> = {
  // What is wrong.
  '{1} of the {2} {3} of source "{4}" are not in the file and would be removed':
    "{1} из {2} ({3}) источника «{4}» нет в файле, они были бы удалены",
  '{1} of the {2} {3} of source "{4}" are not in the file, of which {5} may be new ones':
    "{1} из {2} ({3}) источника «{4}» нет в файле, из них {5} могут быть новыми",
  "more than {1} of its stations stand within {2} m of {3} {4}":
    "больше {1} его станций стоят не дальше {2} м от точки {3} {4}",
  "it has {1} columns": "в нём столбцов: {1}",
  "its list has {1} records and says itself that there are more ({2})":
    "в его списке записей: {1}, и он сам говорит, что есть ещё ({2})",
  stations: "станции",
  cities: "города",
  "it holds no {1}": "в нём нет ни одной записи вида «{1}»",
  "filling station": "заправка",
  city: "город",
  "readable status": "читаемый статус",
  "stock-out": "отсутствие топлива",
  "it holds no {1}: the only entry was left out ({2})":
    "в нём нет ни одной записи вида «{1}»: единственная запись пропущена ({2})",
  "it holds no {1}: all {2} entries were left out ({3})":
    "в нём нет ни одной записи вида «{1}»: все записи ({2}) пропущены ({3})",
  "{1} of its {2} positions are in metres, as in EPSG:3857 or another projection, not in degrees":
    "{1} из {2} координат — в метрах, как в EPSG:3857 или другой проекции, а не в градусах",
  'the file "{1}" of the source {2} is not there': "нет файла «{1}» источника {2}",
  "{1} is one file too many: all files of the source {2} are there":
    "{1} — лишний файл: все файлы источника {2} уже есть",
  "{1} is no file of the source {2}": "{1} — не файл источника {2}",
  "it is imported, and the rows that are left out would replace it":
    "он импортируется, а пропущенные строки заменили бы его",
  "it has NUL characters, which no text has":
    "в нём есть нулевые символы, которых в тексте не бывает",
  'the encoding "{1}" is not known': "кодировка «{1}» неизвестна",
  "{1}, not {2}": "{1}, а не {2}",
  "this is UTF-8": "это UTF-8",
  "it has bytes that are no letter": "в нём есть байты, которые не являются буквами",
  "this is not UTF-8 text": "это не текст в UTF-8",
  "this is a web page, not the data": "это веб-страница, а не данные",
  "this is a web page (“{1}”), not the data": "это веб-страница («{1}»), а не данные",
  'it goes with the source {1}, and its file "{2}" is missing':
    "он относится к источнику {1}, и его файла «{2}» нет",
  "no description fits this file": "ни одно описание не подходит к этому файлу",
  "this is a folder": "это папка",
  "this is not a file": "это не файл",
  "it is empty": "он пуст",
  "this is {1}": "это {1}",
  "compressed by bzip2": "архив bzip2",
  "compressed by xz": "архив xz",
  "compressed by zstd": "архив zstd",
  "a 7z archive": "архив 7z",
  "a RAR archive": "архив RAR",
  "an old Excel or Word file": "старый файл Excel или Word",
  "an empty archive": "пустой архив",
  "a PDF": "PDF",
  "its content is more than {1} times as large as the file":
    "его содержимое больше самого файла более чем в {1} раз",
  '"{1}" in it is encrypted, or packed in a rare way':
    "«{1}» в нём зашифрован или упакован необычно",
  "this archive holds {1} files": "в этом архиве файлов: {1}",
  "this is a spreadsheet, not a text": "это таблица, а не текст",
  "this archive is empty": "этот архив пуст",
  "this archive holds several files, but {1}": "в этом архиве несколько файлов: {1}",
  'this archive holds no file "{1}", but {2}': "в этом архиве нет файла «{1}», есть {2}",
  "what is packed in it breaks off or is damaged ({1})":
    "упакованное в нём обрывается или повреждено ({1})",
  "it ends in the middle": "он обрывается на середине",
  "it ends in the middle ({1})": "он обрывается на середине ({1})",
  "this is not an extract of OpenStreetMap in the PBF format":
    "это не выгрузка OpenStreetMap в формате PBF",
  "the file ends in the middle of a block, at byte {1}":
    "файл обрывается на середине блока, байт {1}",
  "the block at byte {1} cannot be read": "блок на байте {1} не читается",
  "its blocks are compressed in a manner other than zlib": "его блоки сжаты не zlib",
  "it needs what is not understood here ({1})": "ему нужно то, что здесь не поддерживается ({1})",
  "it holds the answer of a query that failed ({1})": "в нём ответ неудавшегося запроса ({1})",
  "{1} has more than {2} MB": "{1}: больше {2} МБ",
  "one of its records": "одна из его записей",
  "it has no {1}": "в нём нет: {1}",
  "it has no {1}; it holds {2}": "в нём нет: {1}; есть {2}",
  "list at the top": "список на верхнем уровне",
  'list "{1}"': "список «{1}»",
  "{1} is not JSON": "{1} — не JSON",
  "{1} is not JSON after “{2}”": "{1} — не JSON после «{2}»",
  "record {1}": "запись {1}",
  "line {1}": "строка {1}",
  "the rest of the file": "остальное в файле",
  'it has the list "{1}" twice': "список «{1}» в нём дважды",
  "its values nest too deeply": "его значения вложены слишком глубоко",
  "it ends before its last bracket": "он кончается раньше последней скобки",
  "there is no source of this name": "источника с таким именем нет",
  "this is no description of a source: {1}": "это не описание источника: {1}",
  "this is no JSON ({1})": "это не JSON ({1})",
  '--map has "{1}"': "в --map есть «{1}»",
  "--map does not do: {1}": "--map не подходит: {1}",
  'it has no element "{1}"': "в нём нет элемента «{1}»",
  "it defines entities of its own": "он определяет собственные сущности",
  "this is not XML ({1})": "это не XML ({1})",
  "one of its elements is too long": "один из его элементов слишком длинный",
  "its elements nest too deeply": "его элементы вложены слишком глубоко",
  "it has {1}, the lines before it {2}": "в ней {1}, в строках до неё {2}",
  "1 field": "1 поле",
  "{1} fields": "полей: {1}",
  'the file ends inside of quotes: a " is missing here or before':
    'файл кончается внутри кавычек: здесь или раньше не хватает "',
  'a " stands in the middle of a field': '" стоит в середине поля',
  'after a closing " something else than the next field follows':
    'после закрывающей " стоит не следующее поле',
  'it is too long: a " may be missing before': 'она слишком длинная: возможно, раньше не хватает "',
  this: "это",
  "this is {1}, not a table": "это {1}, а не таблица",
  "it holds no objects of OpenStreetMap": "в нём нет объектов OpenStreetMap",
  "one of its blocks cannot be read": "один из его блоков не читается",
  "this is no format of OpenStreetMap's objects": "это не формат объектов OpenStreetMap",
  "this is neither hflabs nor GeoNames": "это ни hflabs, ни GeoNames",
  'its fias_id "{1}" is none': "её fias_id «{1}» неверен",
  "it is cut off": "она обрезана",
  "it does not have the 19 columns of GeoNames": "в ней не 19 столбцов GeoNames",
  "it is the heading again": "это снова заголовок",
  "{1} of its {2} lines have another number of fields than the heading":
    "в {1} из {2} строк другое число полей, чем в заголовке",
  "it ends in the middle of a line": "он обрывается на середине строки",
  "it has no line below its heading": "под заголовком нет ни одной строки",
  "the heading has no column {1}; it names {2}": "в заголовке нет столбца {1}; в нём {2}",
  "latitude and longitude are swapped: {1}": "широта и долгота переставлены: {1}",
  "{1} of {2} known stations would move by more than {3} km":
    "{1} из {2} известных станций переместились бы больше чем на {3} км",
  "{1} of {2} stations are not in {3} ({4})": "{1} из {2} станций не в {3} ({4})",
  "any country": "какой-либо стране",
  "{1} of them in {2}": "{1} из них в {2}",
  "the sea": "море",
  'it has {1} stations, and the source "{2}" had {3}':
    "в нём {1} станций, а у источника «{2}» было {3}",
  '{1} of its {2} statuses are "no", and only {3} of the last {4} of source "{5}" were':
    "{1} из {2} его статусов — «нет», а из последних {4} источника «{5}» такими были только {3}",
  // What to do.
  "The file may be cut off: export or download it again.":
    "Возможно, файл обрезан: выгрузите или скачайте его ещё раз.",
  "Is it the right file for this kind of content? docs/imports.md describes each format.":
    "Тот ли это файл? Форматы описаны в docs/imports.md.",
  "Save it as UTF-8 (in a spreadsheet: “CSV UTF-8”), and import it again.":
    "Сохраните его в UTF-8 (в табличном редакторе: «CSV UTF-8») и импортируйте снова.",
  "Or name the encoding that it really has in the source's description.":
    "Или укажите его настоящую кодировку в описании источника.",
  "The file has {1} new ones in their place: the source may have numbered its {2} anew, and place, brand and address do not show which is which. Do not let the old ones go, their ids and marks would go with them: import it without replacing the source, then look at `station doubtful`.":
    "Вместо них в файле {1} новых: похоже, источник перенумеровал свои записи ({2}), а место, бренд и адрес не показывают, какая из них какая. Не удаляйте старые: с ними пропали бы их идентификаторы и отметки. Импортируйте файл без замены источника и посмотрите `station doubtful`.",
  "That is the position of something else, such as the middle of a city: leave these rows out, or give them positions of their own.":
    "Это координаты чего-то другого, например середины города: исключите эти строки или укажите их собственные координаты.",
  "Fetch all of it, or join its pages in one file. If it is whole, import it again with `--force half`.":
    "Скачайте список целиком или соедините его страницы в один файл. Если он полный, импортируйте его ещё раз с `--force half`.",
  "The file may be a part of the country, or of another source. If it is complete, allow {1} removals, or use `--force removals`, and import it again.":
    "Возможно, в файле только часть страны или другой источник. Если он полный, разрешите удалений: {1} или добавьте `--force removals` и импортируйте снова.",
  "Export it again in WGS 84 (EPSG:4326), or convert it: `ogr2ogr -t_srs EPSG:4326 OUT IN`.":
    "Выгрузите его в WGS 84 (EPSG:4326) или преобразуйте: `ogr2ogr -t_srs EPSG:4326 OUT IN`.",
  "It has {1}.": "В нём есть {1}.",
  "Its files are {1}. `operator source try FILE` shows what a file has.":
    "Его файлы: {1}. Что есть в файле, покажет `operator source try FILE`.",
  "Name another file.": "Назовите другой файл.",
  "Is it UTF-16? Then save it as UTF-8, or name its `encoding`. Otherwise export it again.":
    "Это UTF-16? Тогда сохраните его в UTF-8 или укажите `encoding`. Иначе выгрузите его снова.",
  "Name it as in `iconv -l`, for example windows-1251, or save the file as UTF-8.":
    "Назовите её как в `iconv -l`, например windows-1251, или сохраните файл в UTF-8.",
  "Open its address in a browser: the file may have moved, or need a login. Download it again.":
    "Откройте его адрес в браузере: файл мог переехать или требует входа. Скачайте его снова.",
  "Give all files at once: the missing one has {1}.":
    "Дайте все файлы сразу: в недостающем есть {1}.",
  "Say which it is with --source, or name its columns with --map.":
    "Скажите, какой это источник (--source), или назовите столбцы (--map).",
  "Name one file in it.": "Назовите один файл в ней.",
  "Save its content as a file first.": "Сначала сохраните содержимое в файл.",
  "Export or download it again.": "Выгрузите или скачайте его снова.",
  "Unpack it first.": "Сначала распакуйте его.",
  "Unpack it first (`{1}`).": "Сначала распакуйте его (`{1}`).",
  "Export it as “CSV UTF-8”.": "Выгрузите его как «CSV UTF-8».",
  "Download or pack it again.": "Скачайте или упакуйте его снова.",
  "Look for the data as CSV, JSON or XML.": "Поищите эти данные в CSV, JSON или XML.",
  "No register is packed like that. Unpack it and look what it is.":
    "Реестры так не упаковывают. Распакуйте его и посмотрите, что это.",
  "Unpack it, and import the file in it.": "Распакуйте его и импортируйте файл из него.",
  "Name one of them as `member` in the source's description, or unpack it.":
    "Назовите один из них в описании источника (`member`) или распакуйте архив.",
  "Download a file that ends in .osm.pbf, for example from download.geofabrik.de.":
    "Скачайте файл .osm.pbf, например с download.geofabrik.de.",
  "Write it again with `osmium cat IN.osm.pbf -o OUT.osm.pbf`.":
    "Перепишите его: `osmium cat IN.osm.pbf -o OUT.osm.pbf`.",
  "Take an ordinary extract, without history.": "Возьмите обычную выгрузку, без истории.",
  "Run the query again, for a smaller area or with a longer timeout.":
    "Повторите запрос для меньшей области или с большим временем ожидания.",
  "`operator source list` has {1}.": "`operator source list` знает {1}.",
  "docs/sources.md has each key with an example.": "Все ключи с примерами — в docs/sources.md.",
  "A description is a JSON file: `operator source show it-mimit` prints one.":
    "Описание — файл JSON: пример выведет `operator source show it-mimit`.",
  "Write OURS=COLUMN,… with ours of {1}.": "Пишите НАШЕ=СТОЛБЕЦ,…, где наше — из {1}.",
  "id, lat and lon are needed.": "Нужны id, lat и lon.",
  "Export it without a document type.": "Выгрузите его без типа документа.",
  "Two files may stand in one: take each by itself.":
    "Возможно, в одном файле два: возьмите каждый отдельно.",
  "Is it the right separator? If it is, the file may be cut or joined: export or download it again.":
    "Тот ли это разделитель? Если тот, файл мог быть обрезан или склеен: выгрузите или скачайте его снова.",
  "The first line of such a file names the columns {1}, in any order.":
    "Первая строка такого файла называет столбцы {1} в любом порядке.",
  "The file may be of another region, or its ids of others.":
    "Возможно, это файл другого региона или его идентификаторы — чужие.",
  "The file may be of another country, or its positions wrong.":
    "Возможно, это файл другой страны или его координаты неверны.",
  "The file may be a part, or cut off.": "Возможно, это только часть файла или он обрезан.",
  "The source may have failed.": "Возможно, источник сломался.",
  "Give each to its own field, in the file or in the source's description.":
    "Верните их на свои места в файле или в описании источника.",
  "If it is right, import it again with `--force {1}`.":
    "Если он верен, импортируйте его снова с `--force {1}`.",
  // Whole texts.
  "{1}: there is no such file; nothing was changed. Check its name and its folder.":
    "{1}: такого файла нет; ничего не изменено. Проверьте его имя и папку.",
  "{1}: this is a folder; nothing was changed. Name one file in it.":
    "{1}: это папка; ничего не изменено. Назовите один файл в ней.",
  "{1}: it may not be read; nothing was changed. Allow this user to read it.":
    "{1}: его нельзя читать; ничего не изменено. Разрешите этому пользователю его читать.",
  "{1}: Postgres stopped answering ({2}). What was saved until then stays. Import the same file again: it does the rest.":
    "{1}: Postgres перестал отвечать ({2}). Сохранённое до этого остаётся. Импортируйте тот же файл снова: он доделает остальное.",
  "It broke off. What was saved until then stays. Import the same file again: it does the rest. If that breaks off as well, import it on the server.":
    "Импорт оборвался. Сохранённое до этого остаётся. Импортируйте тот же файл снова: он доделает остальное. Если оборвётся и он, импортируйте на сервере.",
  "It broke off ({1}). What was saved until then stays. Import the same file again: it does the rest. If that breaks off as well, import it on the server.":
    "Импорт оборвался ({1}). Сохранённое до этого остаётся. Импортируйте тот же файл снова: он доделает остальное. Если оборвётся и он, импортируйте на сервере.",
  "The process was stopped; the feed is due at once":
    "Процесс был остановлен; автоимпорт начнётся снова сразу",
  "There is no source {1} here": "Источника {1} здесь нет",
  "FEEDS_FOLDER is not set for the role `imports`: it reads no files of folders":
    "Для роли `imports` не задан FEEDS_FOLDER: она не читает файлы из папок",
  "{1}: there is no such folder below FEEDS_FOLDER": "{1}: такой папки в FEEDS_FOLDER нет",
  "{1}: no file of this name below FEEDS_FOLDER": "{1}: файла с таким именем в FEEDS_FOLDER нет",
  "The file has more than FEED_BYTES ({1}); nothing was changed":
    "Файл больше FEED_BYTES ({1}); ничего не изменено",
  "The connection ended without an answer": "Соединение оборвалось без ответа",
  "{1} answered {2}": "{1}: ответ {2}",
  "{1} took longer than FEED_TIMEOUT_MS ({2} ms)": "{1}: дольше FEED_TIMEOUT_MS ({2} мс)",
  "{1} sent nothing for FEED_SILENCE_MS ({2} ms), where {3} a second are the least: take the file from a faster server, or have it copied below FEEDS_FOLDER":
    "{1}: ничего не прислано за FEED_SILENCE_MS ({2} мс), а нужно хотя бы {3} байт в секунду: возьмите файл с более быстрого сервера или копируйте его в FEEDS_FOLDER",
  "{1} sent {2} bytes in FEED_SILENCE_MS ({3} ms), where {4} a second are the least: take the file from a faster server, or have it copied below FEEDS_FOLDER":
    "{1}: за FEED_SILENCE_MS ({3} мс) прислано {2} байт, а нужно хотя бы {4} в секунду: возьмите файл с более быстрого сервера или копируйте его в FEEDS_FOLDER",
  "{1} is redirected more than {2} times": "{1}: перенаправлений больше {2}",
};

/** Russian names of the reasons for which a row is left out, by their codes (docs/imports.md). */
export const reasons: Readonly<Record<string, string>> = {
  "aircraft-only": "только для самолётов",
  "ambiguous-id": "номер есть у нескольких станций",
  "bad-grade": "неизвестная марка",
  "bad-position": "неверные координаты",
  "bad-status": "неизвестный статус",
  "bad-time": "непонятное время",
  "boats-only": "только для лодок",
  closed: "закрыта насовсем",
  disused: "не действует",
  "in-metres": "координаты в метрах",
  "in-the-future": "время в будущем",
  "left-out": "исключена описанием источника",
  "lpg-only": "только газ",
  "no-id": "нет идентификатора",
  "no-name": "нет названия",
  "no-position": "нет координат",
  "no-station-id": "нет номера станции",
  "no-station-near": "рядом нет станции",
  "not-a-city": "не город",
  "not-a-city-of-today": "уже не город",
  "not-a-fuel-station": "не заправка",
  "not-an-object": "не объект карты",
  "not-public": "не для всех",
  "not-sold-here": "здесь не продаётся",
  "not-yet-open": "ещё не открыта",
  "older-than-known": "старее известного",
  "other-country": "другая страна",
  "other-fuel": "другое топливо",
  over: "уже закончилось",
  "repeated-id": "повтор идентификатора",
  "same-station": "о той же станции есть другая строка",
  "too-old": "слишком старое",
  "unknown-station": "неизвестная станция",
  "wrong-fields": "неверное число полей",
};
