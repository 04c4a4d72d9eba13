// A page as it came, and what is read from it.

export interface Page {
  readonly html: string;
  readonly url: string;
}

export interface PageText {
  readonly title: string;
  readonly markdown: string;
}
