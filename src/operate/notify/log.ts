import type { Send } from "./channel.ts";

/** A line in the log. */
export const toLog: Send<unknown> = async (message, _settings, { logger }) => {
  const { event, key, kind, severity, instance, count, since, summary, cure, link } = message;
  const fields = {
    key,
    kind,
    severity,
    instance,
    count,
    since,
    summary,
    cure,
    ...(link === undefined ? {} : { link }),
  };
  if (event === "test") logger.warn({ event: "alert.test", ...fields }, "a test of alerts");
  else logger.warn({ event: `alert.${event}`, ...fields }, "alert");
  return {};
};
