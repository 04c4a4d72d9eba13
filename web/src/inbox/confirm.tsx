// The two last questions of every decision: really, and in what words.

import { type ReactNode, useState } from "react";

interface ConfirmProps {
  readonly text: string;
  readonly word: string;
  readonly act: () => Promise<void>;
  readonly back: () => void;
  /** Whoever only presses Enter goes back. */
  readonly isGrave?: boolean;
  readonly children?: ReactNode;
}

export function Confirm({ text, word, act, back, isGrave = false, children }: ConfirmProps) {
  return (
    <div className="confirm">
      <p>{text}</p>
      {children}
      <div className="actions">
        <button
          type="button"
          className={isGrave ? "button danger" : "button primary"}
          autoFocus={!isGrave}
          onClick={() => void act()}
        >
          {word}
        </button>
        <button type="button" className="button quiet" autoFocus={isGrave} onClick={back}>
          Back
        </button>
      </div>
    </div>
  );
}

interface WriteProps {
  readonly label: string;
  readonly word: string;
  readonly isOptional?: boolean;
  readonly act: (text: string) => Promise<void>;
  readonly back?: () => void;
}

export function Write({ label, word, isOptional = false, act, back }: WriteProps) {
  const [text, setText] = useState("");
  return (
    <div className="confirm">
      <label className="field">
        {label}
        <textarea
          rows={3}
          value={text}
          autoFocus={back !== undefined}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <div className="actions">
        <button
          type="button"
          className="button primary"
          disabled={!isOptional && text.trim() === ""}
          onClick={() => void act(text)}
        >
          {word}
        </button>
        {back !== undefined && (
          <button type="button" className="button quiet" onClick={back}>
            Back
          </button>
        )}
      </div>
    </div>
  );
}
