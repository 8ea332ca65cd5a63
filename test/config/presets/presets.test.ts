import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { loadConfig } from "../../../src/config/config.ts";
import { presetNames, readPreset } from "../../../src/setup/init-from.ts";
import { presetTrial } from "../../../scripts/docs/presets-page.ts";
import { openSource } from "../../source/support.ts";
import { folder } from "../../support/world/start.ts";
import { filledPreset } from "./filled.ts";
import { settingsOf } from "./replay.ts";

describe.each(presetNames())("the preset %s", (name) => {
  const { title, text, fill } = readPreset(name);

  it("is a good source without a secret in it, and its mapping compiles, once what it leaves to a person is written", async () => {
    const path = join(folder(), "crm.yaml");
    writeFileSync(path, stringify({ ledger: { path: "ledger.db" }, sources: { crm: filledPreset(name) } }));
    const loaded = loadConfig({ path, profiles: ["sandbox"], environment: {}, secretsRequired: false });
    if (!loaded.ok) throw new Error(loaded.error.map(({ place, message }) => `${place} ${message}`).join("\n"));
    const { config } = loaded.value;
    const source = openSource(config.sources["crm"], ".");
    for (const stream of source.streams) expect((await source.mapping(stream)).map).toBeTypeOf("function");
  });

  it("says for each thing that it leaves to a person what to write, and holds no secret", () => {
    for (const what of Object.values(fill)) expect(what).toMatch(/^[A-Z][^]*\.$/u);
    // A secret is named by the environment variable that holds it; nothing of a preset runs a program.
    const references = JSON.stringify(settingsOf(name)).match(/"(?:env|file|command):[^"]*"/gu);
    for (const one of references ?? []) expect(one).toMatch(/^"env:[A-Z][A-Z0-9_]*"$/u);
    expect(references?.length).toBeGreaterThan(0);
  });

  it("says what it covers, by which public pages it was written, and whether it ever met the real service", () => {
    expect(title).toMatch(/\S/u);
    expect(text).toMatch(/Written from:\n\n?- [^]*https:\/\//u);
    expect(text.match(/(?:Never run|Run) against/gu), "says once whether it was tried").toHaveLength(1);
    const row = `| \`${name}\` | ${title} | ${presetTrial(name)} |`;
    expect(readFileSync("docs/reference/presets.md", "utf8").split("\n")).toContain(row);
  });
});
