const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/u;

export function isLoopback(url: URL): boolean {
  return loopback.test(url.hostname);
}

/** Plain http to another machine: others can read it. */
export function isPlainHttp(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const url = new URL(address);
  return url.protocol === "http:" && !isLoopback(url);
}

/** `host`: a name or address that a server listens on or a socket shows. */
export function isLoopbackHost(host: string): boolean {
  const plain = host.replace(/^::ffff:(?=\d+\.)/iu, "").toLowerCase();
  return loopback.test(plain.includes(":") && !plain.startsWith("[") ? `[${plain}]` : plain);
}
