/** A store's image as what differs from a later one: a change leaves most pages as they are. */

/** What SQLite writes at once; another page size would only make differences larger. */
const PAGE_BYTES = 4_096;

export interface Difference {
  /** Of the whole image. */
  bytes: number;
  /** Pages that the other image does not have like that, by their place. */
  pages: Map<number, Buffer>;
}

/** What `image` has in place of `other`'s pages. */
export function differenceFrom(other: Buffer, image: Buffer): Difference {
  const pages = new Map<number, Buffer>();
  for (let at = 0; at < image.length; at += PAGE_BYTES) {
    const end = Math.min(at + PAGE_BYTES, image.length);
    const isSame = end <= other.length && image.compare(other, at, end, at, end) === 0;
    // A copy, since a part of the image would keep all of it in memory.
    if (!isSame) pages.set(at, Buffer.from(image.subarray(at, end)));
  }
  return { bytes: image.length, pages };
}

/** The image that differs like that from `other`. */
export function withDifference(other: Buffer, { bytes, pages }: Difference): Buffer {
  const image = Buffer.alloc(bytes);
  other.copy(image, 0, 0, Math.min(bytes, other.length));
  for (const [at, page] of pages) page.copy(image, at);
  return image;
}
