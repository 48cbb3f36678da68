/** The script's own tag, and what it says. */

export interface Tag {
  /** Lower case; undefined: the tag names no brand. */
  brandId: string | undefined;
  /** Where the service is, without a slash at the end. */
  base: string;
  userEmail: string | null;
  /** Sent as `domain`: the page's host, unless the tag names another, as pages on localhost must. */
  domain: string;
  /** Whether e-mails may be remembered for later pages. */
  remembers: boolean;
  debug: boolean;
}

export function readTag(): Tag {
  const running = document.currentScript;
  // Module scripts have no current script, and a form named `currentScript` would shadow it.
  const script =
    running instanceof HTMLScriptElement
      ? running
      : (document.querySelector<HTMLScriptElement>('script[data-brand-id][src*="sdk.js"]') ??
        document.querySelector<HTMLScriptElement>('script[data-brand-id]'));
  const said = (name: string) => script?.getAttribute(`data-${name}`) ?? null;
  const brandId = said('brand-id')?.trim().toLowerCase();
  return {
    brandId: brandId && /^0x[0-9a-f]{40}$/.test(brandId) ? brandId : undefined,
    base: (said('api') || (script?.src ?? '').replace(/\/[^/]*([?#].*)?$/, '')).replace(/\/+$/, ''),
    userEmail: said('user-email'),
    domain: said('domain') || location.hostname,
    remembers: said('remember') !== 'off',
    debug: said('debug') !== null,
  };
}
