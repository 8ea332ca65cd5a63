import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { loadWith } from "../../src/config/load.ts";
import { environment, good, load, refusals, smallSchema } from "./small-config.ts";
import { folder } from "../support/world/start.ts";

describe("a configuration", () => {
  it("gives the settings, the defaults and a header that says where they came from", async () => {
    const { result, path, directory } = await load(good);
    if (!result.ok) throw new Error(JSON.stringify(result.error));
    const { config, header } = result.value;
    expect(config.ledger.path).toBe("ledger.db");
    expect(config.limits).toEqual({
      removals: {
        enterprise: { floor: 5, share: 0.05 },
        run: { floor: 20, share: 0.01 },
        day: { floor: 40, share: 0.02 },
        week: { floor: 100, share: 0.05 },
      },
      sourceShrink: 0.2,
      newIds: { floor: 5, share: 0.05 },
      massChange: { floor: 20, share: 0.2 },
      absenceReads: 3,
      absenceTime: "24h",
      resumeWithin: "24h",
    });
    expect(config.settle.maxWaitMs).toBe(30_000);
    expect(config.orders.unseen).toBe("ask");
    expect(config.alerts.channels).toEqual([]);
    expect(config.namespace).toBe("crm");
    expect(result.value.directory).toBe(directory);
    expect(header).toMatchObject({ file: path, profiles: [], environment: [], options: [] });
    expect(header.hash).toMatch(/^[0-9a-f]{64}$/u);
  });

  it("names file, line, column, key, what was found and what is expected, all mistakes at once, in the order of the file", async () => {
    const text = good
      .replace("path: ledger.db", "path: 7")
      .replace(
        "zone: Europe/Berlin",
        "zone: Europe/Berln\nconcurency:\n  customers: 4\nlimits:\n  removals:\n    run: {floor: -1, shar: 0.5}",
      )
      .replace("  baseUrl: https://orders.example.com\n", "")
      .replace("kind: file", "kind: flie");
    expect(await refusals(text)).toEqual([
      "3:3 config.invalid `ledger.path` is the number 7; text is expected. | Put it in quotes, so that YAML keeps it as text.",
      '5:1 config.invalid `zone` is the text "Europe/Berln": not a time zone; write one such as Europe/Berlin or UTC. | Correct the value, or remove the key if it has a default.',
      expect.stringMatching(
        /^6:1 config\.unknown-key `concurency` is not a key of the top level\. \| Remove it, or use one of: .*concurrency/u,
      ),
      "10:11 config.invalid `limits.removals.run.floor` is the number -1; at least 0 is expected. | Correct the value, or remove the key if it has a default.",
      "10:22 config.unknown-key `limits.removals.run.shar` is not a key of `limits.removals.run`. | Remove it, or use one of: floor, share.",
      "11:1 config.missing `orderService.baseUrl` is missing; text is expected. | Add `baseUrl: …` here.",
      '17:5 config.invalid `sources.crm.kind` is the text "flie"; one of file, http is expected. | Correct the value, or remove the key if it has a default.',
    ]);
  });

  it("explains the alternative that was meant where several shapes are allowed", async () => {
    expect(await refusals(good.replace("path: customers.csv", "path: {glob: a*, most: many}"))).toEqual([
      '14:22 config.invalid `sources.crm.path.most` is the text "many"; a number is expected. | Correct the value, or remove the key if it has a default.',
    ]);
    expect(await refusals(good.replace("path: customers.csv", "path: 12"))).toEqual([
      "14:5 config.invalid `sources.crm.path` is the number 12; text or a list or a map of keys is expected. | Correct the value, or remove the key if it has a default.",
    ]);
  });

  it(
    "refuses keys that stand twice, aliases that explode, tabs, ${…}, other encodings, two documents and keys of the object prototype",
    { tags: "long" },
    async () => {
      expect((await refusals(`${good}zone: UTC\n`))[0]).toMatch(/^15:1 config.duplicate-key /u);
      const bomb = ["a: &a [x,x,x,x,x,x,x,x,x,x]"];
      for (let level = 1; level < 9; level += 1) {
        const [above, here] = ["abcdefghi"[level - 1], "abcdefghi"[level]];
        bomb.push(`${here}: &${here} [${Array.from({ length: 10 }, () => `*${above}`).join(",")}]`);
      }
      expect((await refusals(bomb.join("\n")))[0]).toMatch(/^\d+:\d+ config.alias-bomb /u);
      expect((await refusals("a: &a\n  b: *a\n"))[0]).toMatch(/^2:\d+ config.alias-bomb /u);
      expect((await refusals("ledger:\n\tpath: x\n"))[0]).toMatch(/^2:1 config.yaml .*Indent with spaces/u);
      expect((await refusals("ledger: { path: ${HOME} }\n"))[0]).toMatch(/^1:\d+ config.yaml .*env:NAME/u);
      expect((await refusals(new Uint8Array([97, 58, 32, 98, 10, 97, 58, 32, 0xff])))[0]).toMatch(
        /^2:1 config.encoding /u,
      );
      expect((await refusals("---\na: 1\n---\nb: 2\n"))[0]).toMatch(/^3:1 config.yaml /u);
      expect((await refusals("__proto__: {zone: UTC}\n"))[0]).toMatch(/^1:1 config.key /u);
      expect((await refusals("- a\n- b\n"))[0]).toMatch(/^1:1 config.no-map /u);
      expect((await refusals(""))[0]).toMatch(/^1:1 config.missing /u);
      expect((await refusals("zone: !!binary abc\n"))[0]).toMatch(/^1:\d+ config/u);
    },
  );

  it("lets honest anchors and aliases stand", async () => {
    const { result } = await load(`${good}  other: &base\n    kind: file\n    path: x\n  third: *base\n`);
    expect(result.ok && result.value.config.sources["third"]).toEqual({ kind: "file", path: "x", mapping: {} });
  });

  it("says which file is not there", async () => {
    const { path } = await load(good);
    const { loadWith } = await import("../../src/config/load.ts");
    const { smallSchema } = await import("./small-config.ts");
    const result = loadWith(smallSchema, { path: `${path}.gone`, environment: {} });
    expect(result.ok || result.error.map((problem) => [problem.place, problem.exitCode, problem.message])).toEqual([
      [`${path}.gone:1:1`, 78, "The configuration file does not exist."],
    ]);
  });
});

describe("profiles, environment and options", () => {
  it("lie below and above the file: profile, file, environment, option", async () => {
    const { result } = await load(good, {
      profiles: { easy: "zone: UTC\nsettle: {timeMs: 1, readings: 2}\nnamespace: easy\n" },
      environment: {
        CRM_SYNC__settle__readings: "9",
        CRM_SYNC__serve__port: "1",
        CRM_SYNC__sources__crm__path: "0012",
      },
      options: [{ name: "--port", settings: { serve: { port: 2 } } }],
    });
    if (!result.ok) throw new Error(JSON.stringify(result.error));
    const { config, header } = result.value;
    expect(config.zone).toBe("Europe/Berlin");
    expect(config.namespace).toBe("easy");
    expect(config.settle).toMatchObject({ timeMs: 1, readings: 9, maxWaitMs: 30_000 });
    expect(config.serve.port).toBe(2);
    expect(config.sources["crm"]).toMatchObject({ path: "0012" });
    expect(header.profiles).toEqual(["easy"]);
    expect(header.environment).toEqual([
      "CRM_SYNC__serve__port",
      "CRM_SYNC__settle__readings",
      "CRM_SYNC__sources__crm__path",
    ]);
    expect(header.options).toEqual(["--port"]);
  });

  it("are not mixed where the kind of a thing differs", async () => {
    const { result } = await load(good, {
      profiles: {
        easy: "sources: {crm: {kind: http, url: 'https://crm.example.com', auth: {password: env:SEAL_KEY}}}\n",
      },
    });
    expect(result.ok && result.value.config.sources["crm"]).toMatchObject({ kind: "file", path: "customers.csv" });
  });

  it("are named in the place of a mistake", async () => {
    const { result, directory } = await load(good, {
      profiles: { easy: "namespace: easy\nsettle:\n  timeMs: soon\n" },
      environment: { CRM_SYNC__serve__port: "many", CRM_SYNC__: "x", CRM_SYNC____proto____a: "x" },
    });
    const places = result.ok ? [] : result.error.map((problem) => problem.place);
    expect(places).toEqual(["environment CRM_SYNC__", "environment CRM_SYNC____proto____a"]);
    const second = await load(good, {
      profiles: { easy: "namespace: easy\nsettle:\n  timeMs: soon\n" },
      environment: { CRM_SYNC__serve__port: "many", CRM_SYNC__zonne: "UTC" },
      options: [{ name: "--sandbox", settings: { orderService: { baseUrl: "no url" } } }],
    });
    expect(second.result.ok ? [] : second.result.error.map((problem) => problem.place)).toEqual([
      "--sandbox",
      `${second.directory}/easy.yaml:3:3`,
      "environment CRM_SYNC__serve__port",
      "environment CRM_SYNC__zonne",
    ]);
    expect(directory).not.toBe(second.directory);
  });
});

describe("secrets", () => {
  it("live apart from the configuration, keep their text, and are never printed", async () => {
    const { result } = await load(good);
    if (!result.ok) throw new Error("refused");
    const { config, secrets } = result.value;
    expect(secrets.reveal("env:SEAL_KEY")).toBe("0012");
    expect(config.ledger.sealKey).toBe("env:SEAL_KEY");
    const printed = [inspect(result.value, { depth: 9, showHidden: true }), JSON.stringify(result.value)];
    for (const text of printed) expect(text).not.toContain("order-token-canary");
  });

  it("come from a file as they stand there, without its last line end, and are read anew", async () => {
    const { writeFileSync } = await import("node:fs");
    const file = `${folder()}/key`;
    writeFileSync(file, " 0012 \n");
    const { result } = await load(good.replace("env:SEAL_KEY", `file:${file}`));
    if (!result.ok) throw new Error("refused");
    expect(result.value.secrets.reveal(`file:${file}`)).toBe(" 0012 ");
    writeFileSync(file, "new");
    expect(result.value.secrets.reveal(`file:${file}`)).toBe("new");
  });

  it("are found in files beside the configuration", async () => {
    const { writeFileSync } = await import("node:fs");
    const directory = folder();
    writeFileSync(`${directory}/key`, "beside it\n");
    writeFileSync(`${directory}/crm-sync.yaml`, good.replace("env:SEAL_KEY", "file:key"));
    const result = loadWith(smallSchema, { path: `${directory}/crm-sync.yaml`, environment });
    if (!result.ok) throw new Error("refused");
    expect(result.value.secrets.reveal("file:key")).toBe("beside it");
  });

  it("that are half set stop the start, at the line that asks for them", async () => {
    expect(await refusals(good, { environment: { ORDER_TOKEN: undefined, SEAL_KEY: "" } })).toEqual([
      "4:3 config.missing-secret `ledger.sealKey` needs env:SEAL_KEY, which is empty. | Set the environment variable SEAL_KEY, then start again.",
      "10:5 config.missing-secret `orderService.tokens.authorization` needs env:ORDER_TOKEN, which is not set. | Set the environment variable ORDER_TOKEN, then start again.",
    ]);
    expect((await refusals(good.replace("env:SEAL_KEY", "file:/nowhere/key")))[0]).toContain("cannot be read (ENOENT)");
    expect((await refusals(good.replace("env:SEAL_KEY", "file:relative")))[0]).toContain("cannot be read (ENOENT)");
    expect((await refusals(good.replace("env:ORDER_TOKEN", "file:relative")))[0]).toContain("config.secret-reference");
    expect((await refusals(good.replace("env:SEAL_KEY", "env:A-B")))[0]).toContain("4:3 config.secret-reference");
  });

  it("are asked for late where a command can do without them", async () => {
    const { result } = await load(good, { environment: { ORDER_TOKEN: undefined }, secretsRequired: false });
    if (!result.ok) throw new Error("refused");
    expect(() => result.value.secrets.reveal("env:ORDER_TOKEN")).toThrow("ORDER_TOKEN");
    expect(() => result.value.secrets.reveal("hunter2")).not.toThrow("hunter2");
    expect(() => result.value.secrets.reveal("hunter2")).toThrow("not a reference to a secret");
  });

  it("written out are refused and not repeated, not even by the message", async () => {
    const canary = "hunter2-canary";
    const messages = [
      ...(await refusals(good.replace("env:SEAL_KEY", canary))),
      ...(await refusals(good.replace("env:ORDER_TOKEN", canary))),
      ...(await refusals(good.replace("env:ORDER_TOKEN", "4711"))),
      ...(await refusals(
        `${good}  api:\n    kind: http\n    url: https://x.example\n    auth: {password: ${canary}}\n`,
      )),
      ...(await refusals(
        `${good}  api:\n    kind: http\n    url: https://u:${canary}@x.example\n    auth: {password: "env:SEAL_KEY"}\n`,
      )),
    ];
    expect(messages).toHaveLength(5);
    for (const message of messages) {
      expect(message).not.toContain(canary);
      expect(message).not.toContain("4711");
      expect(message).toMatch(/^\d+:\d+ config/u);
    }
  });
});
