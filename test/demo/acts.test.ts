import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { demonstrate, demonstrateSecondAct } from "../../demo/demonstrate.ts";
import { demonstrateThirdAct } from "../../demo/third-act.ts";
import { edits } from "../../demo/second-act.ts";
import { createOutput } from "../../src/cli/output.ts";
import { documents } from "../support/cli.ts";
import { crmSync, environmentAt } from "../support/program.ts";
import { folder } from "../support/world/start.ts";

const demo = join(import.meta.dirname, "../../demo");

/** The demo in a folder of its own: its configuration, its sample, and a key. */
function copied(): {
  act: (number: 1 | 2 | 3, json?: boolean) => Promise<{ exitCode: number; said: string }>;
  config: string;
} {
  const here = folder();
  const config = join(here, "crm-sync.yaml");
  writeFileSync(config, readFileSync(join(demo, "crm-sync.yaml")));
  cpSync(join(demo, "sample"), join(here, "sample"), { recursive: true });
  mkdirSync(join(here, "state"));
  writeFileSync(join(here, "state/seal.key"), `${"0123456789abcdef".repeat(4)}\n`, { mode: 0o600 });
  const [sample, exports] = [join(here, "sample"), join(here, "state/exports")];
  const places = { config, reports: join(here, "state/reports"), here, sample, exports };
  return {
    config,
    async act(number, json = true) {
      let said = "";
      const write = (text: string | Buffer, done?: () => void): boolean => {
        said += String(text);
        done?.();
        return true;
      };
      const output = createOutput({ write }, { write: () => true }, () => 0);
      const { signal } = new AbortController();
      const rest = [json, environmentAt({}), output, signal] as const;
      if (number === 3) {
        const finance = { config, sample, work: join(here, "state/finance") };
        return { exitCode: await demonstrateThirdAct(finance, environmentAt({}), output, signal), said };
      }
      const exitCode = number === 1 ? await demonstrate(places, ...rest) : await demonstrateSecondAct(places, ...rest);
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
    const first = await act(1, false);
    expect(first.exitCode, "some records wait in quarantine").toBe(3);
    expect(first.said).toMatch(/^waiting in quarantine since the first run, on purpose in this sample \(11\):$/mu);
    expect(first.said).toMatch(/^not attempted: 9 grant-assets: no longer planned: .*planned again/mu);
    expect(first.said, "its figures are of other things than those of the table").not.toMatch(/^customers: /mu);
    expect(first.said).toMatch(/^ {2}orders {10}307 as sent, 9 not sent$/mu);
    expect(first.said, "adds up with the table above").toMatch(/^ {2}staff {11}314 as sent, 2 not sent$/mu);
    expect(first.said).toMatch(
      /exit code 3, as it should: 11 records of the sample are broken on purpose,\nand 3 others/u,
    );
    const second = await act(2);
    const { calls, held } = JSON.parse(second.said);
    expect([second.exitCode, calls], second.said).toEqual([4, { E4: 1, E5: 1, M2: 1, M9: 1 }]);
    expect(held).toMatchObject([{ explanation: expect.stringContaining("the order crm/SO-50007 was cancelled") }]);
    const planned = await crmSync({ config }, "--sandbox", "--json", "plan");
    const { operations, heldOperations } = documents(planned).find(({ type }) => type === "total");
    expect([planned.exitCode, operations], "a plan takes nothing of the act back").toEqual([4, heldOperations]);
    expect(JSON.parse((await act(2)).said), "nothing is done twice").toMatchObject({ calls: {}, held });
    const words = ["--sandbox", "approve", held[0].id, "--reason", "asked the customer"];
    const approved = await crmSync({ config }, ...words);
    expect(approved.exitCode, approved.stderr).toBe(0);
    const third = await act(2, false);
    expect(third.exitCode).toBe(3);
    expect(third.said, "nothing of the five changes is told a second time").not.toContain(edits[0]?.what);
    for (const part of [
      /^carried out, as approved \(1\):\n {2}h-\w+ of crm\/C-1005: the order crm\/SO-50007 was cancelled/mu,
      /^writing calls: E5 1$/mu,
      /^open since the first act:\n {2}1 staff member waits \(asset\.ended\): crm\/E-20006: .+\n.+explain staff crm\/E-20006$/mu,
      /^next: +\S.*explain order SO-50004$/mu,
      /exit code 3, as it should: 14 records of the sample wait since the first act, and 1 more\./u,
    ])
      expect(third.said).toMatch(part);
    const back = await act(1, false);
    expect(back.said).toMatch(/^waiting in quarantine since the first run, on purpose in this sample \(11\):$/mu);
    expect(back.said).toMatch(/^waiting in quarantine since a later change \(1\):\n {2}orders\.csv:5: .+P-990001/mu);
    expect(back.said).toMatch(/11 records of the sample are broken on purpose,\nand 3 others/u);
    expect(back.said).toMatch(/1 more waits since a later change.+--reset/u);
  },
);

it(
  "the third act closes a month, shows a later correction, and checks the audit log apart",
  { tags: "long" },
  async () => {
    const { act } = copied();
    const { exitCode, said } = await act(3);
    expect(exitCode, said).toBe(0);
    for (const part of [
      /\d{4}-\d\d is closed \(closing 1\)/u,
      /crm\/SO-50003: 1464\.00 became 1400\.00 EUR/u,
      /^ {6}records +read +=/mu,
      /the figures are the same as those that were frozen/u,
      /the audit log is written to/u,
      /good: \d+ entries, each follows the one before it/u,
      /heads: \d+ that were kept outside fit/u,
    ])
      expect(said).toMatch(part);
    expect(said.split("\n").length, "a screen or two").toBeLessThan(60);
  },
);
