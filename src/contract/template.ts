/** A text with placeholders in braces, such as `CRM-{id}`. */
const placeholder = /\{([A-Za-z]+)\}/g;

/** The placeholders of a template, each once. */
export function placeholdersOf(template: string): string[] {
  return [...new Set([...template.matchAll(placeholder)].map((match) => match[1] ?? ""))];
}

/** Fills a template. Throws a RangeError for a placeholder without a value: a half-filled number must never be sent. */
export function fillTemplate(template: string, values: Readonly<Record<string, string | undefined>>): string {
  return template.replaceAll(placeholder, (_, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined || value === "")
      throw new RangeError(`the template "${template}" has no value for {${name}}`);
    return value;
  });
}
