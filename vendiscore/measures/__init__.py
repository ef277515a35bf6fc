"""Measures by name, and the Subject that they are functions of: samples and their views."""

from ..support.hints import refuse_calls

refuse_calls(__name__)
