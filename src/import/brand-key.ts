import { repairLookalikes } from "#src/import/clean-text.ts";
import { remembered } from "#src/infrastructure/lists.ts";

/**
 * The key by which brand spellings are compared: alphabet repaired, case, ё/е, quotes, spaces and hyphens ignored,
 * legal forms and words for "station" left out. "ГАЗПРОМ-нефть", "Газпром Нефть" → "газпромнефть".
 */
export const brandKey = remembered((text) =>
  withoutForms(repairLookalikes(text))
    .normalize("NFC")
    .toLowerCase()
    .replaceAll("ё", "е")
    .replace(/[^\p{L}\p{N}\p{M}&+]/gu, ""),
);

/** A brand or firm without quotes and its legal form; "" for a sole trader, whose name is a person's. */
export const firmName = remembered((text) =>
  /^(ИП|индивидуальный предприниматель)\s/i.test(text)
    ? ""
    : withoutForms(text).replace(/\s+/g, " ").trim(),
);

const forms =
  /(?<![\p{L}\p{N}])(ООО|ОАО|ЗАО|ПАО|АО|ТД|НК|Общество с ограниченной ответственностью|АЗС|АЗК|МАЗС|АГЗС|LLC|Ltd|Oy|AB)(?![\p{L}\p{N}])/giu;

/** Without quotes, legal forms, words for "station" and its number. */
export function withoutForms(text: string): string {
  const bare = text
    .replace(/["'«»„“”`]/g, " ")
    .replace(/№\s*\d+/g, " ")
    .replace(forms, " ")
    .trim();
  return bare.replace(/^[\s,.-]+|[\s,-]+$/g, "");
}
