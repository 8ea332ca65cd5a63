import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config/config.ts";
import { endpointIds } from "../../src/contract/endpoints.ts";
import { missingAssumptions, payloadUses } from "../../src/contract/assumption-settings.ts";
import { sandboxSettingsSchema } from "../../src/sandbox/sandbox-settings.ts";
import { staticTokens } from "../../src/sandbox/door.ts";
import { folder } from "../support/world/start.ts";

const file = `ledger: {path: ledger.db}
sources:
  crm:
    kind: file
    streams:
      customers:
        files: customers.csv
        format: csv
        mapping: {id: id, name: name, customerType: {value: company}, branchCode: {value: B}, branchName: {value: B}}
`;

describe("the profile of the sandbox", () => {
  const options = [
    {
      name: "--sandbox",
      settings: {
        orderService: { baseUrl: "http://127.0.0.1:4010" },
        memberCenter: { baseUrl: "http://127.0.0.1:4010" },
      },
    },
  ];

  it("needs no secret, has no limit of rate and answers every open assumption", async () => {
    const path = join(folder(), "crm.yaml");
    writeFileSync(path, file);
    const result = loadConfig({ path, profiles: ["sandbox"], environment: {}, options });
    if (!result.ok) throw new Error(result.error.map((problem) => `${problem.place} ${problem.message}`).join("\n"));
    const { config, header } = result.value;
    expect(header).toMatchObject({ profiles: ["sandbox"], options: ["--sandbox"] });
    expect([config.orderService.callsPerSecond, config.memberCenter.callsPerSecond]).toEqual([null, null]);
    expect(config.orders.unseen).toBe("resend");
    expect(config.settle).toMatchObject({ timeMs: 2_000, readings: 3 });
    const sandbox = sandboxSettingsSchema.parse({});
    expect(config.orderService.appKey).toBe(sandbox.appKey);
    expect(config.assumptions.channelCode).toBe(sandbox.channelCode);
    expect(config.orderService.tokens.authorization).toEqual({ fixed: staticTokens.app });
    expect(config.memberCenter.tokens.userToken).toEqual({ fixed: staticTokens.user });
    for (const operation of endpointIds) {
      expect(missingAssumptions(config.assumptions, operation, new Set(payloadUses)), operation).toEqual([]);
    }
  });

  it("gives way to the tokens of the file, whatever way of getting one that is", async () => {
    const path = join(folder(), "crm.yaml");
    writeFileSync(path, `${file}orderService: {tokens: {authorization: "env:ORDER_TOKEN"}}\n`);
    const result = loadConfig({ path, profiles: ["sandbox"], environment: { ORDER_TOKEN: "order-token" }, options });
    expect(result.ok && result.value.config.orderService.tokens.authorization).toEqual("env:ORDER_TOKEN");
    expect(result.ok && result.value.secrets.known.isIn("order-token")).toBe(true);
  });

  it("is refused for services that are not on this machine, because its tokens stand in the file", async () => {
    const path = join(folder(), "crm.yaml");
    writeFileSync(
      path,
      `${file}orderService: {baseUrl: "https://orders.example.com"}\nmemberCenter: {baseUrl: "https://members.example.com"}\n`,
    );
    const result = loadConfig({ path, profiles: ["sandbox"], environment: {} });
    const codes = result.ok ? [] : result.error.map((problem) => problem.code);
    expect(codes).toEqual(["config.literal-secret", "config.literal-secret", "config.literal-secret"]);
  });
});
