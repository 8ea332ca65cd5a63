import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject } from "../../src/base/canonical-json.ts";
import { presetNames, readPreset, shippedPresets } from "../../src/config/presets.ts";
import { code, page, table, yaml } from "./markdown.ts";

/** The comment at the head of a preset: its first line, and the paragraphs after it. */
export function presetHead(name: string): { title: string; text: string } {
  const lines = readFileSync(join(shippedPresets, `${name}.yaml`), "utf8").split("\n");
  const end = lines.findIndex((line) => !line.startsWith("#"));
  const [title = "", ...rest] = lines.slice(0, end).map((line) => line.replace(/^# ?/u, ""));
  return { title, text: rest.join("\n").trim().replaceAll(":\n- ", ":\n\n- ") };
}

/**
 * Whether a preset was tried against what it is for, in its own words: the paragraph that ends its head. A preset that
 * does not say so makes no page.
 */
export function presetTrial(name: string): string {
  const last = presetHead(name).text.split("\n\n").at(-1)?.replaceAll("\n", " ") ?? "";
  if (/^(?:Never run|Run) against .*\.$/u.test(last)) return last;
  throw new Error(
    `the preset ${name} does not end with the system that it was tested against, or that it was never tested`,
  );
}

function part(name: string): string[] {
  const preset = readPreset(name, shippedPresets);
  if (!preset.ok) throw new Error(preset.error.map(({ place, message }) => `${place} ${message}`).join("\n"));
  const { fill, settings } = preset.value;
  const streams = isJsonObject(settings.value["streams"]) ? Object.keys(settings.value["streams"]) : [];
  const { title, text } = presetHead(name);
  return [
    `## ${code(name)}: ${title}`,
    text,
    `Streams: ${streams.map(code).join(", ")}.`,
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
      "says whether it was run against the real service. A source names one and adds its own settings:",
    yaml({
      sources: {
        crm: {
          preset: "salesforce",
          baseUrl: "https://yours.my.salesforce.com",
          auth: { tokenUrl: "https://yours.my.salesforce.com/services/oauth2/token", clientId: "crm-sync" },
          tables: {
            products: {
              inline: {
                "CAD-10": {
                  gmsPid: "CAD",
                  licenseType: "softkey",
                  type: "tool",
                  timeUnit: "YEAR",
                  timeUnitQuantity: 1,
                  term: "1-0-0",
                },
              },
            },
          },
          streams: {
            customers: { mapping: { branchCode: { value: "B1" }, branchName: { value: "Head office" } } },
            staff: null,
          },
        },
      },
    }),
    "The source overrides the preset: maps are merged key by key, lists and values are replaced, `null` removes a " +
      "key. A field of a mapping, a look-up table, a `skip` and a map of another `kind` are replaced as a whole. " +
      "`crm-sync check` names the values that you must fill in, at the line of `preset`, and a mistake in " +
      "the preset by its " +
      "own file and line.",
    "A preset cannot know what only your company knows. Which product of the platform a line of an order is, is in " +
      "the look-up table `products`; an order with another product goes into quarantine. For custom fields, write " +
      "the query or the list of fields of a stream again. `skip` removes nothing: a won deal that is lost " +
      "later does not change, unless `cancelled` says so. Look at the first records with `crm-sync map` " +
      "before you apply.",
    table(
      ["Preset", "For", "Tried"],
      presetNames(shippedPresets).map((name) => [code(name), presetHead(name).title, presetTrial(name)]),
    ),
    ...presetNames(shippedPresets).flatMap(part),
  ]);
}
