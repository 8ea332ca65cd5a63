import { z } from "zod";
import { placeholdersOf } from "../template.ts";
import { licenseTypes } from "../vocabulary.ts";

export const licenseType = z.enum(licenseTypes);

/** A text that holds `{required}` and may hold the others. */
export function template(required: string, others: readonly string[] = []) {
  const optional = others.map((name) => `{${name}}`).join(", ");
  return z.string().refine(
    (text) => {
      const used = placeholdersOf(text);
      return used.includes(required) && used.every((name) => name === required || others.includes(name));
    },
    {
      message: `must hold {${required}}${others.length === 0 ? "" : ` and may hold ${optional}`}`,
    },
  );
}
