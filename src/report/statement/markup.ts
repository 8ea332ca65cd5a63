import { html } from "hono/html";

/** HTML that is escaped already. */
export type Markup = Exclude<ReturnType<typeof html>, Promise<unknown>>;

/** HTML of a template: texts in it are escaped, markup and lists of it stand as they are. */
export function markup(
  strings: TemplateStringsArray,
  ...values: (string | number | Markup | readonly Markup[])[]
): Markup {
  const made = html(strings, ...values);
  if (made instanceof Promise) throw new TypeError("a template of a statement waits for nothing");
  return made;
}

/** A number's digits in groups of three, as people read them. */
export function grouped(digits: string): string {
  const [whole = "", ...fraction] = digits.split(".");
  return [whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ","), ...fraction].join(".");
}
