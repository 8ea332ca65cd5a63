import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isMap, parseDocument } from "yaml";
import { usage } from "../base/errors.ts";
import { presetNames, readPreset, shippedPresets } from "../config/presets.ts";
import { dialectNames } from "../source/sql/statement.ts";
import type { DialectName } from "../source/sql/statement.ts";
import { comment, doubtComment, finished, newDocument } from "./configuration-text.ts";
import type { WrittenConfiguration } from "./configuration-text.ts";

/** The preset that has the queries for a database of one's own. */
const ofDatabases = "postgres";

/** Databases, and the CRMs that have a preset. */
export function templateNames(): string[] {
  const presets = presetNames(shippedPresets).filter((name) => name !== ofDatabases);
  return [...dialectNames, ...presets];
}

/** A configuration for a database, with queries to adapt, or for a CRM that has a preset. Throws a Problem for another. */
export function templateText(name: string, zone: string): WrittenConfiguration {
  const dialect = dialectNames.find((known) => known === name);
  if (dialect !== undefined) return databaseText(dialect, zone);
  if (templateNames().includes(name)) return presetText(name, zone);
  throw usage(`there is no template ${name}`, `use one of: ${templateNames().join(", ")}`);
}

const placeholders: Readonly<Record<DialectName, Record<string, string>>> = {
  postgres: { host: "db.example.com", database: "crm", user: "crm_sync", password: "env:CRM_DB_PASSWORD" },
  mysql: { host: "db.example.com", database: "crm", user: "crm_sync", password: "env:CRM_DB_PASSWORD" },
  sqlite: { file: "crm.db" },
};

function databaseText(dialect: DialectName, zone: string): WrittenConfiguration {
  const preset = parseDocument(readFileSync(join(shippedPresets, `${ofDatabases}.yaml`), "utf8"));
  const { contents } = preset;
  if (!isMap(contents)) throw new TypeError("a preset is a map");
  const header = preset.commentBefore ?? contents.commentBefore ?? "";
  contents.commentBefore = null;
  contents.delete("fill");
  const document = newDocument({}, { zone, hasStaff: true });
  document.setIn(["sources", "crm"], contents);
  const at = ["sources", "crm"];
  document.setIn([...at, "connection"], { kind: dialect, ...placeholders[dialect] });
  document.setIn([...at, "zone"], zone);
  contents.items.splice(2, 0, ...contents.items.splice(-1));
  // Every preset says what it is before the places that it was written from.
  const [, about = ""] = /^.*\n\n([\s\S]*?)\n\n Written from:/u.exec(header) ?? [];
  comment(document, at, about);
  comment(
    document,
    [...at, "connection"],
    doubtComment({ at: [], text: "where the database is; use an account that can only read" }),
  );
  comment(
    document,
    [...at, "zone"],
    doubtComment({ at: [], text: "the zone of times that the database keeps without one" }),
  );
  for (const stream of ["customers", "orders", "staff"])
    comment(
      document,
      [...at, "streams", stream, "query"],
      doubtComment({ at: [], text: `the tables and columns of ${stream}` }),
    );
  return finished(document);
}

function presetText(name: string, zone: string): WrittenConfiguration {
  const preset = readPreset(name, shippedPresets);
  if (!preset.ok) throw preset.error[0] ?? new TypeError("a preset cannot be read");
  const document = newDocument({ crm: { preset: name } }, { zone, hasStaff: true });
  const at = ["sources", "crm", "preset"];
  comment(document, at, ` Its settings: ${join(shippedPresets, `${name}.yaml`)}. Beside it, write what only you know:`);
  for (const [path, what] of Object.entries(preset.value.fill))
    comment(document, at, doubtComment({ at: [], text: `${path}: ${what}` }));
  return finished(document);
}
