import { expect, it } from "vitest";
import { platformName } from "../../src/app/platform-name.ts";
import { newSandbox } from "../support/world/start.ts";

async function nameOf(baseUrl: string, profiles: string[] = []): Promise<string> {
  const service = { baseUrl };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only the addresses count here
  const config = { orderService: service, memberCenter: service } as Parameters<typeof platformName>[0]["config"];
  return await platformName({ config, header: { profiles }, sandbox: undefined });
}

it.each([
  ["http://127.0.0.1:8080/", "this machine"],
  ["http://localhost:81", "this machine"],
  ["https://localhost-crm.example.com/api/", "https://localhost-crm.example.com/api"],
  ["https://127.example.com", "https://127.example.com"],
])("names the platform at %s %s", async (url, name) => {
  expect(await nameOf(url)).toBe(name);
});

it("knows a sandbox by its identity, also at an address that ends with a slash", async () => {
  const sandbox = await newSandbox();
  expect(await nameOf(`${sandbox.url}/`, ["sandbox"])).toContain(sandbox.identity());
});
