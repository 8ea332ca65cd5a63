import { request } from "undici";
import { expect, test } from "vitest";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { createEnterprise, started, type Parsed } from "./caller.ts";

const size = { size: 1 };
const query = "/enterprise/user/query?channelCode=crm&channelCustomerId=C1&defaultCustomer=N";

test("the order service wants a token: HTTP 401 without", async () => {
  const { order } = await started();
  for (const authorization of [undefined, "Bearer wrong", "sandbox-app-token", "Bearer sandbox-user-token"]) {
    const refused = await order("POST", "/shellnums", size, { headers: { authorization } });
    expect(refused).toMatchObject({ status: 401, code: "401", cause: expect.any(String) });
  }
});

test("the order service wants Content-Type on every call, reads too", async () => {
  const { order } = await started();
  for (const type of [undefined, "text/plain"]) {
    const headers = { "content-type": type };
    expect((await order("GET", query, undefined, { headers })).code).toBe("13004");
    expect((await order("POST", "/shellnums", size, { headers })).code).toBe("13004");
  }
  const headers = { "content-type": "application/json; charset=utf-8" };
  expect((await order("GET", query, undefined, { headers })).code).toBe(0);
});

test("the member-center wants three tokens on every call and Content-Type with a body", async () => {
  const { member, ...caller } = await started();
  const enterprise = await createEnterprise({ member, ...caller });
  const path = `/enterprise/${enterprise.enterpriseGlobalId}/asset/assetNums`;
  const refused = async (headers: Record<string, string | undefined>) =>
    (await member("GET", path, undefined, { headers })).code;
  expect(await refused({ authorization: undefined })).toBe("60000");
  expect(await refused({ clientToken: undefined })).toBe("60000");
  expect(await refused({ clientToken: "sandbox-user-token" })).toBe("60000");
  expect(await refused({ userToken: undefined })).toBe("60005");
  expect(await refused({ userToken: "sandbox-app-token" })).toBe("60005");
  expect(await refused({})).toBe(0);
  const adding = `/enterprise/${enterprise.enterpriseGlobalId}/member`;
  const untyped = { headers: { "content-type": undefined } };
  expect((await member("POST", adding, { userList: [] }, untyped)).code).toBe("70001");
  expect((await member("POST", adding, { userList: [] })).code).toBe("40021");
});

test("g_nonce is wanted everywhere and good once", async () => {
  const { order, member, sandbox } = await started();
  expect((await order("POST", "/shellnums", size, { nonce: null })).code).toBe("13004");
  expect((await order("POST", "/shellnums", size, { nonce: "n1" })).code).toBe(0);
  const again = await order("POST", "/shellnums", size, { nonce: "n1" });
  expect(again).toMatchObject({ code: "13004", message: "g_nonce: used before" });
  expect(sandbox.state().shellNumbers).toBe(1);
  const path = "/enterprise/asset/x/merchandiseProducts";
  expect((await member("GET", path, undefined, { nonce: null })).code).toBe("70001");
  expect((await member("GET", path, undefined, { nonce: "n1" })).code).toBe("60024");
  expect((await member("GET", path, undefined, { nonce: "n1" })).code).toBe("70001");
});

test("an error is HTTP 299, or 200 where the sandbox is set so, with a text as its code", async () => {
  const usual = await started();
  expect(await usual.order("POST", "/shellnums", {})).toMatchObject({ status: 299, code: "13004" });
  const other = await started({ settings: { errorStatus: 200 } });
  const refused = await other.order("POST", "/shellnums", {});
  expect(refused).toMatchObject({ status: 200, code: "13004", cause: expect.stringContaining("size") });
});

test("a body that is no JSON is 13004, and a path that is none 404", async () => {
  const { order, member } = await started();
  expect((await order("POST", "/shellnums", undefined, { text: "{" })).code).toBe("13004");
  expect((await order("GET", "/shellnums")).status).toBe(404);
  expect((await member("GET", "/enterprise//members")).status).toBe(404);
  expect((await member("GET", "/enterprise/%E0%A4%A/members")).status).toBe(404);
});

async function token(sandbox: Sandbox, fields: Record<string, string>, headers: Record<string, string> = {}) {
  const response = await request(sandbox.tokenUrl, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    body: new URLSearchParams(fields).toString(),
  });
  const body: Parsed = await response.body.json();
  return { status: response.statusCode, body };
}

const application = { client_id: "sandbox-app", client_secret: "sandbox-secret" };
const appGrant = { grant_type: "client_credentials", ...application };
const userGrant = { grant_type: "password", username: "sandbox-user", password: "sandbox-password", ...application };

test("the token call gives tokens for both grants, each for its header", async () => {
  const { sandbox, order, member, control } = await started();
  const app = await token(sandbox, appGrant);
  const user = await token(sandbox, userGrant);
  expect(app).toMatchObject({ status: 200, body: { token_type: "Bearer", expires_in: 3600 } });
  const authorization = `Bearer ${app.body.access_token}`;
  expect((await order("POST", "/shellnums", size, { headers: { authorization } })).code).toBe(0);
  const path = "/enterprise/asset/x/merchandiseProducts";
  const headers = { authorization, clientToken: app.body.access_token, userToken: user.body.access_token };
  expect((await member("GET", path, undefined, { headers })).code).toBe("60024");
  const swapped = { ...headers, userToken: app.body.access_token };
  expect((await member("GET", path, undefined, { headers: swapped })).code).toBe("60005");
  expect((await control("GET", "counts")).data.calls).toMatchObject({ token: 2 });
});

test("the token call takes the client by HTTP Basic and refuses wrong ones", async () => {
  const { sandbox } = await started();
  const basic = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString("base64")}` });
  const grant = { grant_type: "client_credentials" };
  expect((await token(sandbox, grant, basic("sandbox-app:sandbox-secret"))).status).toBe(200);
  expect(await token(sandbox, grant, basic("sandbox-app:wrong"))).toMatchObject({
    status: 401,
    body: { error: "invalid_client" },
  });
  expect((await token(sandbox, grant)).status).toBe(401);
  expect((await token(sandbox, { ...userGrant, password: "wrong" })).body.error).toBe("invalid_grant");
  expect((await token(sandbox, { ...appGrant, grant_type: "magic" })).body.error).toBe("unsupported_grant_type");
});

test("a token ends with its time, and all of them when they are called off; the static ones stay", async () => {
  let offset = 0;
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + offset };
  const { sandbox, order } = await started({ clock, settings: { tokenLifetimeMs: 60_000 } });
  const fresh = async () => `Bearer ${(await token(sandbox, appGrant)).body.access_token}`;
  const status = async (authorization: string) =>
    (await order("POST", "/shellnums", size, { headers: { authorization } })).status;
  const first = await fresh();
  expect(await status(first)).toBe(200);
  offset = 60_000;
  expect(await status(first)).toBe(401);
  const second = await fresh();
  expect(await status(second)).toBe(200);
  const [kind, epoch, end, ...rest] = second.split(".");
  expect(await status([kind, epoch, Number(end) + 1, ...rest].join("."))).toBe(401);
  sandbox.expireTokens();
  expect(await status(second)).toBe(401);
  expect(await status(await fresh())).toBe(200);
  expect(await status("Bearer sandbox-app-token")).toBe(200);
});
