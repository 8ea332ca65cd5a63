import { onTestFinished } from "vitest";
import { pino } from "pino";

import { systemClock } from "../../src/base/clock.ts";
import { systemRandomness } from "../../src/base/ids.ts";
import { assumptionSettingsSchema } from "../../src/contract/assumption-settings.ts";
import { type Platform, createPlatform } from "../../src/platform/platform.ts";
import { memberCenterSettingsSchema, orderServiceSettingsSchema } from "../../src/platform/service-settings.ts";
import { startService, success, type Reply } from "../http/scripted-service.ts";
import type { Asked } from "../support/http-server.ts";

export const nonce = "00112233445566778899aabbccddeeff";

/**
 * A platform client before a server that answers as told; both services stand behind one address, as their paths
 * differ.
 */
export async function startPlatform(
  answer: (seen: Asked, count: number) => Reply = () => success(null),
  assumptions: Record<string, unknown> = {},
): Promise<{ platform: Platform; seen: Asked[] }> {
  const service = await startService(answer);
  const shared = {
    baseUrl: `${service.url}/base/`,
    callsPerSecond: null,
    backoffBaseMs: 1,
    backoffCapMs: 2,
    readAttempts: 2,
  };
  const platform = createPlatform(
    {
      orderService: orderServiceSettingsSchema.parse({
        ...shared,
        appKey: "key&1",
        tokens: { authorization: { fixed: "order-token" } },
      }),
      memberCenter: memberCenterSettingsSchema.parse({
        ...shared,
        tokens: {
          authorization: { fixed: "client-token" },
          userToken: { fixed: "user-token" },
          userTokens: { special: { fixed: "special-user-token" } },
        },
      }),
      assumptions: assumptionSettingsSchema.parse(assumptions),
    },
    { clock: systemClock, random: systemRandomness, logger: pino({ level: "silent" }), environment: {} },
  );
  onTestFinished(() => platform.close());
  return { platform, seen: service.seen };
}
