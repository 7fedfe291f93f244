"""Commands that go on after their call."""
