const entities: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** HTML that may be put into a page as it is. */
export interface Html {
  html: string;
}

type Part = string | number | Html | readonly Html[] | null;

/** A template for HTML: whatever is put in is text and escaped, unless it is HTML already. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  return {
    html: strings.map((text, i) => text + (i < parts.length ? render(parts[i]!) : "")).join(""),
  };
}

function render(part: Part): string {
  if (part === null) return "";
  if (typeof part === "string" || typeof part === "number") {
    return String(part).replace(/[&<>"']/g, (character) => entities[character]!);
  }
  return "html" in part ? part.html : part.map((one) => one.html).join("");
}
