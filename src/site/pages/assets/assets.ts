/** The pages' own files. Their names change with what is in them, so that browsers keep them for good. */
import { createHash } from 'node:crypto';
import pageStyle from './page.css';
import shortcodeStyle from './shortcodes.css';
import siteScript from './site.browser.js';
import themeStyle from './theme.css';

interface Asset {
  /** Below the site's base path. */
  path: string;
  type: string;
  text: string;
}

function asset(name: string, ending: 'css' | 'js', text: string): Asset {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12);
  const type = ending === 'css' ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8';
  return { path: `/assets/${name}.${hash}.${ending}`, type, text };
}

export const styleAsset = asset('site', 'css', themeStyle + pageStyle + shortcodeStyle);
export const scriptAsset = asset('site', 'js', siteScript);

/** The answer to a request for one of them. */
export function assetResponse(path: string): Response | undefined {
  const found = [styleAsset, scriptAsset].find((one) => one.path === path);
  if (!found) return undefined;
  return new Response(found.text, {
    headers: {
      'Content-Type': found.type,
      'Cache-Control': 'public, max-age=31536000, immutable',
      'X-Content-Type-Options': 'nosniff',
    },
  });
}
