import { z } from "zod";
import { presetNames, readPreset } from "../../src/setup/init-from.ts";
import { code, page, table } from "./markdown.ts";

/**
 * Whether a preset was tried against what it is for, in its own words: the paragraph that ends its head. A preset that
 * does not say so makes no page.
 */
export function presetTrial(name: string): string {
  const last = readPreset(name).text.split("\n\n").at(-1)?.replaceAll("\n", " ") ?? "";
  if (/^(?:Never run|Run) against .*\.$/u.test(last)) return last;
  throw new Error(
    `the preset ${name} does not end with the system that it was tested against, or that it was never tested`,
  );
}

function part(name: string): string[] {
  const { title, text, fill, document } = readPreset(name);
  const { streams } = z.object({ streams: z.record(z.string(), z.unknown()) }).parse(document.toJS());
  return [
    `## ${code(name)}: ${title}`,
    text,
    `Streams: ${Object.keys(streams).map(code).join(", ")}.`,
    ...(Object.keys(fill).length === 0
      ? []
      : [
          table(
            ["To fill in", "Meaning"],
            Object.entries(fill).map(([path, meaning]) => [code(path), meaning]),
          ),
        ]),
  ];
}

/** The reference of the presets. */
export function presetsPage(): string {
  return page([
    "# Presets",
    "A preset is a source for a well-known CRM: kind, log-in, paging, streams, the field that tells what changed, " +
      "and a mapping to begin with. Presets are data in `config/presets/`, written from public documentation; each " +
      "says whether it was run against the real service. `crm-sync init --template salesforce` writes a configuration " +
      "with the settings of that preset, and marks with `DOUBT` what only you know: fill it in, and adapt the rest.",
    "A preset cannot know what only your company knows. Which product of the platform a line of an order is, is in " +
      "the look-up table `products`; an order with another product goes into quarantine. For custom fields, write " +
      "the query or the list of fields of a stream again. `skip` removes nothing: a won deal that is lost " +
      "later does not change, unless `cancelled` says so. Look at the first records with `crm-sync map` " +
      "before you apply.",
    table(
      ["Preset", "For", "Tried"],
      presetNames().map((name) => [code(name), readPreset(name).title, presetTrial(name)]),
    ),
    ...presetNames().flatMap(part),
  ]);
}
