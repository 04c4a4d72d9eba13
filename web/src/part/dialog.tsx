// A dialog over the page. The browser keeps the focus in it and gives it back.

import { type ReactNode, useEffect, useRef } from "react";

interface DialogProps {
  readonly title: string;
  readonly close: () => void;
  readonly children: ReactNode;
  readonly isWide?: boolean;
}

export function Dialog({ title, close, children, isWide = false }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    element.current?.showModal();
  }, []);
  return (
    <dialog ref={element} className={isWide ? "dialog wide" : "dialog"} aria-label={title} onClose={close}>
      <header className="dialog-head">
        <h2>{title}</h2>
        <button type="button" className="button quiet" onClick={() => element.current?.close()}>
          Close
        </button>
      </header>
      <div className="dialog-body">{children}</div>
    </dialog>
  );
}
