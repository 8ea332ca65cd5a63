/** Names of query parameters that carry what only we may know. */
const secretName =
  /key(?!word)|token|secret|passw|pwd|credential|auth(?!or)|authori[sz]|(?:^|[^a-z])sig(?:nature)?(?![a-z])/iu;

/** The query of an address without what looks like a secret, and the names of that, as an address writes them. */
export function withoutSecrets({ search }: URL): { query: string; secrets: string[] } {
  const secrets: string[] = [];
  const kept = search
    .slice(1)
    .split("&")
    .filter((parameter) => {
      const [name = ""] = new URLSearchParams(parameter).keys();
      if (!secretName.test(name)) return true;
      secrets.push(encodeURIComponent(name));
      return false;
    })
    .join("&");
  return { query: kept === "" ? "" : `?${kept}`, secrets: [...new Set(secrets)] };
}

/** What a person is told of a parameter that was left out. */
export function secretDoubt(name: string): string {
  return `the query parameter ${name} looks like a secret and is left out here: it belongs into \`auth\` of the source`;
}
