/** How a service may repeat a secret: by name, the text. */
export function spellings(secret: string): [name: string, text: string][] {
  const everyPercent = [...Buffer.from(secret, "utf8")]
    .map((byte) => `%${byte.toString(16).padStart(2, "0")}`)
    .join("");
  const everyUnicode = Array.from({ length: secret.length }, (_, at) => secret.charCodeAt(at))
    .map((code) => `\\u${code.toString(16).padStart(4, "0")}`)
    .join("");
  const base64 = (text: string): string => Buffer.from(text, "utf8").toString("base64");
  return [
    ["as it is", secret],
    ["capitals", secret.replaceAll(/[a-z]+/gu, (letters) => letters.toUpperCase())],
    ["small letters", secret.replaceAll(/[A-Z]+/gu, (letters) => letters.toLowerCase())],
    ["URL-encoded", encodeURIComponent(secret)],
    ["URL-encoded twice", encodeURIComponent(encodeURIComponent(secret))],
    ["each byte URL-encoded", everyPercent],
    ["JSON-escaped", JSON.stringify(secret).slice(1, -1)],
    ["each character JSON-escaped", everyUnicode],
    ["HTML-escaped", secret.replaceAll(/[&<>"' ]/gu, (char) => `&#${char.charCodeAt(0)};`)],
    ["Base64", base64(secret).replaceAll("=", "")],
    ["hexadecimal", Buffer.from(secret, "utf8").toString("hex")],
  ];
}

/** Longer texts that a secret is a part of. */
export function around(secret: string): [name: string, text: string][] {
  const base64 = (text: string): string => Buffer.from(text, "utf8").toString("base64");
  return [
    ["a connection string", `postgres://crm:${encodeURIComponent(secret)}@db.example/crm`],
    ["a log-in", `Basic ${base64(`crm-user:${secret}`)}`],
    ["AUTH PLAIN", base64(`\0crm-user\0${secret}`)],
    ["an address", `https://crm.example/a?q=100%&key=${encodeURIComponent(secret)}&page=2`],
  ];
}

/** Every spelling of a secret and every longer text with it that a text shows, found without the code of the program. */
export function shownOf(secret: string, text: string): string[] {
  const low = text.toLowerCase();
  const whole = [...spellings(secret), ...around(secret)].filter(([, spelled]) => low.includes(spelled.toLowerCase()));
  // A piece that is as good as the rest, wherever it was cut.
  const pieces = Array.from({ length: Math.max(1, secret.length - 11) }, (_, at) => secret.slice(at, at + 12));
  const piece = pieces.find((one) => low.includes(one.toLowerCase()));
  return [...whole.map(([name]) => name), ...(piece === undefined ? [] : [`a piece: ${piece}`])];
}
