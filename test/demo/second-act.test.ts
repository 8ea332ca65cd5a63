import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { demonstrate, demonstrateSecondAct } from "../../demo/demonstrate.ts";
import { edits } from "../../demo/second-act.ts";
import { createOutput } from "../../src/cli/output.ts";
import { crmSync, environmentAt } from "../support/program.ts";
import { folder } from "../support/world/start.ts";

const demo = join(import.meta.dirname, "../../demo");

/** The demo in a folder of its own: its configuration, its sample, and a key. */
function copied(): { act: (number: 1 | 2) => Promise<{ exitCode: number; said: string }>; config: string } {
  const here = folder();
  const config = join(here, "crm-sync.yaml");
  writeFileSync(config, readFileSync(join(demo, "crm-sync.yaml")));
  cpSync(join(demo, "sample"), join(here, "sample"), { recursive: true });
  mkdirSync(join(here, "state"));
  writeFileSync(join(here, "state/seal.key"), `${"0123456789abcdef".repeat(4)}\n`, { mode: 0o600 });
  const places = { config, reports: join(here, "state/reports"), here, sample: join(here, "sample") };
  return {
    config,
    async act(number) {
      let said = "";
      const write = (text: string | Buffer, done?: () => void): boolean => {
        said += String(text);
        done?.();
        return true;
      };
      const output = createOutput({ write }, { write: () => true }, () => 0);
      const rest = [true, environmentAt({}), output, new AbortController().signal] as const;
      const exitCode =
        number === 1
          ? await demonstrate(places, ...rest)
          : await demonstrateSecondAct({ ...places, changed: join(here, "state/changed") }, ...rest);
      return { exitCode, said };
    },
  };
}

it(
  "the second act amends, renames and takes a leaver's licence back, and holds what a cancelled order brought",
  { tags: "long" },
  async () => {
    expect(edits.map(({ record }) => record)).toHaveLength(5);
    const { act, config } = copied();
    expect((await act(1)).exitCode, "some records wait in quarantine").toBe(3);
    const second = await act(2);
    const { calls, held } = JSON.parse(second.said);
    expect([second.exitCode, calls], second.said).toEqual([4, { E4: 1, E5: 1, M2: 1, M9: 1 }]);
    expect(held).toMatchObject([{ explanation: expect.stringContaining("the order crm/SO-50007 was cancelled") }]);
    expect(JSON.parse((await act(2)).said), "nothing is done twice").toMatchObject({ calls: {}, held });
    const words = ["--sandbox", "approve", held[0].id, "--reason", "asked the customer"];
    const approved = await crmSync({ config }, ...words);
    expect(approved.exitCode, approved.stderr).toBe(0);
    const third = await act(2);
    expect([third.exitCode, JSON.parse(third.said)]).toMatchObject([3, { calls: { E5: 1 }, held: [] }]);
  },
);
