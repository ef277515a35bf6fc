"""Call a tool of the web app with an MCP client."""

import asyncio

try:
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client
except ImportError:
    raise SystemExit("this example requires mcp; run: pip install mcp") from None


async def main() -> None:
    async with (
        streamablehttp_client("http://127.0.0.1:7860/gradio_api/mcp/") as (read, write, _),
        ClientSession(read, write) as session,
    ):
        server = await session.initialize()
        print(server.serverInfo.name, server.instructions)
        texts = ["a cat sat", "a dog ran"]
        answer = await session.call_tool("vendi_score_texts", {"texts": texts, "q": "inf"})
        print(answer.structuredContent["VS_qinf"])


asyncio.run(main())
