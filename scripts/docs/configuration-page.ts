import { isJsonObject, type Json, type JsonObject } from "../../src/base/canonical-json.ts";
import { configSchema } from "../../src/config/config.ts";
import { jsonSchemaOf } from "../../src/config/schema.ts";
import { anchorOf, code, page, sentence, table, yaml } from "./markdown.ts";
import { normalFile, normalKeys } from "./normal-file.ts";
import { inPlace, sectionsOf, settingsOf, type Section, type SettingRow } from "./settings.ts";

/** A map with more keys than this has a table of its own. */
const maxRowsInside = 10;

/** So many keys that an earlier table has too are not listed again. */
const minRepeated = 4;

const schema = jsonSchemaOf(configSchema);
const sections = sectionsOf(schema);
const [topLevel] = sections;

/** The page of a place, from `configuration/`: one for each key at the top, and for each kind of source. */
function pageOf(place: string): string {
  const kind = /^sources\.\*<(\w+)>/u.exec(place)?.[1];
  const key = /^\w+/u.exec(place)?.[0] ?? "";
  return kind === undefined ? `${key}.md` : `sources-${kind}.md`;
}

/** The place whose table holds the keys of a place: its own, or that of the map around it. */
function headingOf(place: string): string {
  const parent = /^(.*)\.\w+$/u.exec(place)?.[1] ?? "";
  const own = sections.filter((section) => section.place === place);
  const isInside = parent !== "" && own.length === 1 && (own[0]?.rows.length ?? 0) <= maxRowsInside;
  return isInside && sections.some((section) => section.place === parent) ? headingOf(parent) : place;
}

/** The first heading for a place; one of several shapes has its name in it. */
function firstHeading(place: string): string {
  const found = sections.find((section) => section.place === place || section.place.startsWith(`${place}<`));
  const below = found ?? sections.find((section) => section.place.startsWith(place));
  return headingOf(below?.place ?? place);
}

function linkTo(place: string, from: string): string {
  const target = firstHeading(place);
  const file = pageOf(target);
  return `[${code(place)}](${file === from ? "" : file}#${anchorOf(code(target))})`;
}

function meaningOf(row: SettingRow, heading: string): string {
  const text = sentence(row.description ?? "");
  if (row.keysAt === undefined) return text;
  const { place, without, ofEntries, also } = row.keysAt;
  if (firstHeading(place) === heading && also.length === 0) return text;
  const less = without.length === 0 ? "" : `, without ${without.map(code).join(", ")}`;
  const links = [place, ...also].filter((one) => one !== "").map((one) => linkTo(one, pageOf(heading)));
  return `${text} ${ofEntries ? "Keys of an entry" : "Keys"}: ${links.join(", or ")}${less}.`;
}

function tableOf(rows: readonly SettingRow[], heading: string): string {
  const cells = rows.map((row) => [
    code(row.key.slice(heading.length + 1)),
    row.type,
    row.required ? "required" : row.default === undefined || row.default === "{}" ? "" : code(row.default),
    meaningOf(row, heading),
  ]);
  return table(["Key", "Type", "Default", "Meaning"], cells);
}

/** Both values together; `more` counts where they differ. */
function merged(one: JsonObject, more: JsonObject): JsonObject {
  const all = { ...one };
  for (const [key, value] of Object.entries(more)) {
    const there: Json | undefined = all[key];
    all[key] = isJsonObject(there) && isJsonObject(value) ? merged(there, value) : value;
  }
  return all;
}

/** A map with the maps inside it that have no table of their own. */
function part(section: Section): string[] {
  const inside = sections.filter(({ place }) => place.startsWith(section.place) && headingOf(place) === section.place);
  const { as, rows } = withoutRepeated(section);
  const shown = new Set(rows.map(({ key }) => key));
  const left = (one: Section): JsonObject[] =>
    one.examples.map((example) =>
      Object.fromEntries(
        Object.entries(example).filter(([key]) => one !== section || shown.has(`${section.place}.${key}`)),
      ),
    );
  const children = inside.filter((one) => one === section || [...shown].some((key) => one.place.startsWith(key)));
  const examples = children.flatMap((one) =>
    left(one)
      .slice(0, 1)
      .map((example) => inPlace(one, example, false)),
  );
  const more = left(section)
    .slice(1)
    .map((example) => inPlace(section, example, false));
  const depth = section.place.replaceAll(/\.\*|\[\]/gu, "").includes(".") ? 3 : 2;
  const repeated = section.rows.filter((row) => !rows.includes(row)).map(({ key }) => code(lastOf(key)));
  return [
    `${"#".repeat(depth)} ${code(section.place)}`,
    ...(section.description === undefined ? [] : [sentence(section.description)]),
    tableOf(
      rows.flatMap((row) => rowsOf(row, inside)),
      section.place,
    ),
    ...(as === undefined ? [] : [`As in ${linkTo(as, pageOf(section.place))}: ${repeated.join(", ")}.`]),
    ...[examples.reduce(merged, {}), ...more].filter((one) => Object.keys(one).length > 0).map(yaml),
  ];
}

function lastOf(key: string): string {
  return /\w+$/u.exec(key)?.[0] ?? key;
}

/** The keys of a map without those that an earlier map has too, word for word, if there are some. */
function withoutRepeated(section: Section): { as: string | undefined; rows: readonly SettingRow[] } {
  const texts = (one: Section): Set<string> => new Set(one.rows.map(textOf));
  const earlier = sections.slice(1, sections.indexOf(section)).map((one) => {
    const there = texts(one);
    return { place: one.place, rows: section.rows.filter((row) => there.has(textOf(row))) };
  });
  const most = earlier.reduce((best, one) => (one.rows.length > best.rows.length ? one : best), {
    place: "",
    rows: [],
  });
  const isWorthIt = most.rows.length >= minRepeated && most.rows.length < section.rows.length;
  if (!isWorthIt) return { as: undefined, rows: section.rows };
  return { as: most.place, rows: section.rows.filter((row) => !most.rows.includes(row)) };
}

function textOf({ key, type, default: value, required, description }: SettingRow): string {
  return JSON.stringify([lastOf(key), type, value, required, description]);
}

/** A key of a map, followed by the keys of its own that have no other table. */
function rowsOf(row: SettingRow, inside: readonly Section[]): SettingRow[] {
  const own = inside.find(({ place }) => place === row.key);
  return [row, ...(own?.rows ?? []).flatMap((one) => rowsOf(one, inside))];
}
/** One page for each section of the configuration, by its path from `docs/`. */
export const sectionPages: Readonly<Record<string, () => string>> = Object.fromEntries(
  [...new Set(sections.slice(1).map(({ place }) => pageOf(place)))].map((file) => [
    `reference/configuration/${file}`,
    () => sectionPage(file),
  ]),
);

function sectionPage(file: string): string {
  const own = sections.filter(({ place }) => place !== "" && pageOf(place) === file && headingOf(place) === place);
  const name = file.replace(/\.md$/u, "").replace("-", ", kind ");
  return page([
    `# Configuration: ${name}`,
    "[All sections](../configuration.md). `*` is a name that you choose, `[]` an entry of a list, `<…>` one of " +
      "several shapes. The examples show every key; leave out those whose default fits.",
    ...own.flatMap(part),
  ]);
}

/** The index of the reference of the configuration: how it is written, the keys of a normal file, all sections. */
export function configurationPage(): string {
  const settings = new Map(settingsOf(schema).map((row) => [row.key, row]));
  const keys = normalKeys.map((key) => {
    const row = settings.get(key);
    if (row === undefined) throw new TypeError(`there is no setting ${key}`);
    return [code(key), sentence(row.description ?? "")];
  });
  return page([
    "# Configuration",
    "The configuration is one YAML file of at most 1 MiB. Most installations need twenty keys.",
    "## The keys of a normal file",
    table(["Key", "Meaning"], keys),
    "## A complete example",
    `\`\`\`yaml\n${normalFile.trim()}\n\`\`\``,
    "## How it is written",
    [
      "- `crm-sync init` writes a file to start from. `crm-sync check` names every mistake with file, line and hint.",
      "- An unknown key is a mistake. A missing key has its default.",
      "- A secret is a reference, never the value: `env:NAME` names a variable of the environment, `file:/path` a " +
        "file that holds nothing else. Addresses and the values of `query` and `headers` may be references too.",
      "- The environment overrides the file: `CRM_SYNC__orderService__callsAtOnce=4` sets `orderService.callsAtOnce`.",
      "- `config/schema.json` lets editors complete and check the file.",
    ].join("\n"),
    "## All sections",
    table(["Key", "Meaning", "Keys of its own"], sectionRows()),
    "See also: [presets](presets.md), [the mapping](mapping.md), [the assumptions A1–A43](assumptions.md).",
  ]);
}

function sectionRows(): string[][] {
  return (topLevel?.rows ?? []).map((row) => {
    const { keysAt } = row;
    const files = [
      ...new Set(sections.map(({ place }) => place).filter((place) => place.startsWith(keysAt?.place ?? " "))),
    ];
    const pages = keysAt === undefined ? [] : [...new Set(files.map(pageOf))];
    const links = pages.map((file) => `[${file.replace(/\.md$/u, "")}](configuration/${file})`);
    const value = row.default === undefined || row.default === "{}" ? "" : `Default: ${code(row.default)}`;
    return [code(row.key), sentence(row.description ?? ""), links.length === 0 ? value : links.join(", ")];
  });
}
