import { postJson, signatureHeader, signatureOf } from "../webhook.ts";
import type { WebhookTarget } from "../webhook.ts";
import { credentialOf } from "../../http/secrets.ts";
import type { Send } from "./channel.ts";

/** An HTTP POST of the message as JSON, signed where there is a key. */
export const toWebhook: Send<WebhookTarget & { signKey?: string | undefined }> = async (
  message,
  { signKey, ...target },
  { clock, secret },
) => {
  const body = JSON.stringify(message);
  const signed =
    signKey === undefined ? {} : { [signatureHeader]: signatureOf(body, credentialOf(secret(signKey)), clock.now()) };
  await postJson(target, body, secret, signed);
  return {};
};
