/** Small drawings, in the colour of the text around them; nothing is loaded for them. */
import { type Html, trusted } from './html.ts';

const icon = (paths: string) =>
  trusted(
    `<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${paths}</svg>`,
  );

export const brandIcon = icon(
  '<circle cx="12" cy="12" r="9.2"/><path d="M8.2 15.8V8.2h4.3a2.3 2.3 0 0 1 0 4.6H8.2m4 0 3.4 3"/>',
);

const categories: Record<string, Html> = {
  digital: icon('<rect x="3" y="4.5" width="18" height="12" rx="1.8"/><path d="M8.5 20h7M12 16.5V20"/>'),
  physical: icon('<path d="m12 3 8 4.3v9.4L12 21l-8-4.3V7.3zM4.3 7.5 12 11.7l7.7-4.2M12 11.7V21"/>'),
  exclusive: icon('<path d="m12 3.5 2.6 5.4 5.9.8-4.3 4.2 1 5.9L12 17l-5.2 2.8 1-5.9-4.3-4.2 5.9-.8z"/>'),
};

export const perkIcon = (category: string): Html => categories[category] ?? (categories.physical as Html);

const art = (paths: string) =>
  trusted(
    `<svg class="art" viewBox="0 0 200 120" fill="none" stroke="currentColor" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${paths}</svg>`,
  );
const arts: Record<string, Html> = {
  'field-notebook': art(
    '<rect x="72" y="22" width="60" height="78" rx="4" fill="currentColor" fill-opacity=".12"/><path d="M84 22v78M72 36h-6m6 16h-6m6 16h-6m6 16h-6M98 44h22M98 54h22"/>',
  ),
  'enamel-mug': art(
    '<path d="M70 40h52v48a8 8 0 0 1-8 8H78a8 8 0 0 1-8-8z" fill="currentColor" fill-opacity=".12"/><path d="M66 40h60M122 50h8a14 14 0 0 1 0 28h-8M84 18c-5 6 5 8 0 14m16-14c-5 6 5 8 0 14"/>',
  ),
  'canvas-rucksack': art(
    '<path d="M72 50a28 28 0 0 1 56 0v42a8 8 0 0 1-8 8H80a8 8 0 0 1-8-8z" fill="currentColor" fill-opacity=".12"/><path d="M90 24v-6a10 10 0 0 1 20 0v6M72 54h56M84 72h32v28H84zM96 54v12h8V54"/>',
  ),
};

export const productArt = (slug: string): Html =>
  arts[slug] ??
  art(
    '<path d="M66 52h68l-6 46H72z" fill="currentColor" fill-opacity=".12"/><path d="M84 52V40a16 16 0 0 1 32 0v12"/>',
  );
